# The plugins themselves are linked, as a user would have them.
if(PURLIN_HAVE_CUDA)
  target_compile_definitions(${name} PRIVATE PURLIN_HAVE_CUDA)
  add_dependencies(${name} atom-generic atom-ampere atom-hopper atom-blackwell atom-nvls
    atom-nvls-blackwell)
endif()
target_link_libraries(${name} PRIVATE ${CMAKE_DL_LIBS})
# What machine code is looked at for is shared with the linker's own tests.
target_sources(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/runtime/program/link/inspect.cc)
# The kernels of `purlin perf atom` stand for an application's.
purlin_device_image_table(TARGET ${name} TABLE atom_bench_images FROM purlin_tool_parts atom_bench_images)
