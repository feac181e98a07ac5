target_link_libraries(${name} PRIVATE purlin_tool_parts purlin_core)
target_compile_definitions(${name} PRIVATE
  PURLIN_PRODUCT_FOLDER="${PURLIN_PLUGIN_OUTPUT_DIRECTORY}")
include(${CMAKE_CURRENT_SOURCE_DIR}/gpu/fake_driver.cmake)
purlin_use_fake_driver(${name})
if(PURLIN_HAVE_CUDA)
  target_compile_definitions(${name} PRIVATE PURLIN_HAVE_CUDA)
  add_dependencies(${name} atom-generic atom-ampere atom-hopper atom-blackwell atom-nvls)
endif()
