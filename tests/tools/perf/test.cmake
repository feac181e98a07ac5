# stand_in.cc takes the library's place: its functions are found before those of purlin_core.
target_link_libraries(test_tools_perf PRIVATE purlin_tool_parts)
include(${CMAKE_CURRENT_SOURCE_DIR}/gpu/fake_driver.cmake)
purlin_use_fake_driver(test_tools_perf)

add_library(purlin_fake_nccl MODULE ${folder}/fake_nccl/fake_nccl.cc)
target_link_libraries(purlin_fake_nccl PRIVATE purlin_settings)
target_compile_definitions(test_tools_perf PRIVATE
  PURLIN_FAKE_NCCL="$<TARGET_FILE:purlin_fake_nccl>")
add_dependencies(test_tools_perf purlin_fake_nccl)
