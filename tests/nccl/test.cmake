add_dependencies(${name} purlin_nccl atom-host)
target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(${name} PRIVATE ${CMAKE_DL_LIBS})

# What fallback_test.py gives to PURLIN_NCCL_FALLBACK.
add_library(fake_nccl SHARED ${folder}/fallback/fake_nccl.cc)
target_include_directories(fake_nccl PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/runtime/include)
target_link_libraries(fake_nccl PRIVATE purlin_settings)
# One device presented as several; devices_test.py, and nccl-tests on a GPU.
add_library(purlin_several_devices SHARED ${folder}/devices/several_devices.c)
target_link_libraries(purlin_several_devices PRIVATE purlin_settings ${CMAKE_DL_LIBS})
add_library(fake_runtime SHARED ${folder}/devices/fake_runtime.c)
target_link_libraries(fake_runtime PRIVATE purlin_settings)
foreach(library fake_nccl purlin_several_devices fake_runtime)
  set_target_properties(${library} PROPERTIES C_VISIBILITY_PRESET default
    CXX_VISIBILITY_PRESET default LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/nccl)
  add_dependencies(${name} ${library})
endforeach()
