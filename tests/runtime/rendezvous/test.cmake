# A rank as a process of its own, for the tests that kill ranks.
add_executable(rendezvous_rank ${folder}/rank/rendezvous_rank.cc)
target_link_libraries(rendezvous_rank PRIVATE purlin_settings purlin_core)
add_dependencies(${name} rendezvous_rank)
target_compile_definitions(${name} PRIVATE PURLIN_RANK_PROGRAM="$<TARGET_FILE:rendezvous_rank>")
