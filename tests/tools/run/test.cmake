target_link_libraries(${name} PRIVATE purlin_tool_parts)
