target_link_libraries(${name} PRIVATE purlin_tool_parts purlin_core)
target_compile_definitions(${name} PRIVATE
  PURLIN_PRODUCT_FOLDER="${PURLIN_PLUGIN_OUTPUT_DIRECTORY}")
if(PURLIN_HAVE_CUDA)
  add_dependencies(${name} atom-generic atom-ampere atom-hopper atom-blackwell atom-nvls
    atom-nvls-blackwell)
endif()
