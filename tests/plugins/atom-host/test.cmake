# The plugin is opened as any plugin is; its kernels are linked in as well, to try every version of them.
add_dependencies(${name} atom-host)
target_sources(${name} PRIVATE $<TARGET_OBJECTS:atom-host-kernels>)
target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/plugins/atom-host)
target_compile_definitions(${name} PRIVATE PURLIN_TEST_PLUGIN="$<TARGET_FILE:atom-host>")
target_link_libraries(${name} PRIVATE ${CMAKE_DL_LIBS})
