# purlin_fake_driver: a CUDA driver on host memory. purlin_use_fake_driver(TARGET) lets a test open it.
if(NOT TARGET purlin_fake_driver)
  file(GLOB fake_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/fake/*.cc)
  add_library(purlin_fake_driver SHARED ${fake_sources})
  target_include_directories(purlin_fake_driver PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/.. ${PROJECT_SOURCE_DIR}/runtime/src)
  target_link_libraries(purlin_fake_driver PRIVATE purlin_settings)
  set_target_properties(purlin_fake_driver PROPERTIES OUTPUT_NAME purlin_fake_cuda)

  set(PURLIN_OPEN_FAKE_DRIVER ${CMAKE_CURRENT_LIST_DIR}/open_fake_driver.cc)
  function(purlin_use_fake_driver target)
    target_sources(${target} PRIVATE ${PURLIN_OPEN_FAKE_DRIVER})
    target_compile_definitions(${target} PRIVATE
      PURLIN_FAKE_DRIVER="$<TARGET_FILE:purlin_fake_driver>")
    add_dependencies(${target} purlin_fake_driver)
  endfunction()
endif()
