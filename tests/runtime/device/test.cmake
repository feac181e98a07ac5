include(${CMAKE_CURRENT_SOURCE_DIR}/gpu/fake_driver.cmake)
purlin_use_fake_driver(${name})
if(PURLIN_HAVE_CUDA)
  set_source_files_properties(${folder}/driver_types_check.cc PROPERTIES
    INCLUDE_DIRECTORIES ${PURLIN_CUDA_HOME}/include)
endif()
