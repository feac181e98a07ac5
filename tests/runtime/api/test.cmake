add_dependencies(${name} purlin atom-host)
target_compile_definitions(${name} PRIVATE PURLIN_LIBRARY="$<TARGET_FILE:purlin>"
  PURLIN_PRODUCT_FOLDER="${PURLIN_PLUGIN_OUTPUT_DIRECTORY}")
