# The kit's headers as device code, for every base that a fragment may be built for. Needs no GPU.
if(PURLIN_HAVE_CUDA)
  foreach(base 75 80 89 90 100)
    add_test(NAME test_kit/compiles_for_${base}
      COMMAND ${PURLIN_NVCC} -std=c++20 -gencode arch=compute_${base},code=lto_${base} -dc -fatbin
        -Werror all-warnings -I${PROJECT_SOURCE_DIR}/runtime/include
        ${CMAKE_CURRENT_LIST_DIR}/compile.cu -o ${CMAKE_CURRENT_BINARY_DIR}/kit_compile_${base}.fatbin)
    set_tests_properties(test_kit/compiles_for_${base} PROPERTIES LABELS link TIMEOUT 300)
  endforeach()
endif()
