include(${CMAKE_CURRENT_SOURCE_DIR}/gpu/fake_driver.cmake)
purlin_use_fake_driver(${name})
target_sources(${name} PRIVATE ${folder}/../ranks.cc ${folder}/../switched/test_switch.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/snac/naive_atom.cc)
target_link_libraries(${name} PRIVATE purlin_fmt)
if(PURLIN_HAVE_CUDA)
  target_compile_definitions(${name} PRIVATE PURLIN_HAVE_CUDA)
  add_dependencies(${name} atom-generic atom-host)
endif()
