# The probe kernels as PTX in a fatbin: any GPU from cc 7.5 on compiles them when they are loaded.
if(PURLIN_HAVE_CUDA)
  set(probe ${CMAKE_CURRENT_BINARY_DIR}/gpu_probe.fatbin)
  add_custom_command(OUTPUT ${probe}
    COMMAND ${PURLIN_NVCC} -fatbin -gencode arch=compute_75,code=compute_75 -o ${probe}
            ${folder}/probe_kernels.cu
    DEPENDS ${folder}/probe_kernels.cu VERBATIM)
  add_custom_target(gpu_probe DEPENDS ${probe})
  add_dependencies(${name} gpu_probe)
  target_compile_definitions(${name} PRIVATE PURLIN_GPU_PROBE="${probe}")
endif()
