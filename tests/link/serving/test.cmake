# Real programs of the generic Atom, loaded by a driver that works on host memory.
include(${CMAKE_CURRENT_SOURCE_DIR}/gpu/fake_driver.cmake)
purlin_use_fake_driver(${name})
if(PURLIN_HAVE_CUDA)
  target_compile_definitions(${name} PRIVATE PURLIN_HAVE_CUDA)
  add_dependencies(${name} atom-generic)
endif()
target_link_libraries(${name} PRIVATE ${CMAKE_DL_LIBS})
target_sources(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/link/programs.cc)
