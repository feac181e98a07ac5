# Ranks and cases are those of the host ranks' tests.
target_sources(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/runtime/communicator/ranks.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/runtime/communicator/sweep_case.cc)
target_link_libraries(${name} PRIVATE purlin_fmt)
if(PURLIN_HAVE_CUDA)
  target_compile_definitions(${name} PRIVATE PURLIN_HAVE_CUDA)
  add_dependencies(${name} atom-generic atom-ampere atom-hopper atom-blackwell)
endif()
