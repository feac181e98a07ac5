#stand_in.cc takes the library's place: its functions are found before those of purlin_core.
target_link_libraries(test_tools_perf PRIVATE purlin_tool_parts)
