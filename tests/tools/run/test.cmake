target_link_libraries(${name} PRIVATE purlin_tool_parts purlin_core)
add_dependencies(${name} rendezvous_rank)
target_compile_definitions(${name} PRIVATE PURLIN_RANK_PROGRAM="$<TARGET_FILE:rendezvous_rank>")
