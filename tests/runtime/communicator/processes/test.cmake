# A rank as a process of its own, linked like a user's program; the harness that drives it, and the
# steps at which a rank can die while ranks meet, are those of the rendezvous tests.
add_executable(communicator_rank ${folder}/rank/communicator_rank.cc ${folder}/rank/long_runs.cc
  ${folder}/rank/messages.cc ${folder}/rank/surroundings.cc ${folder}/../message_plan.cc ${folder}/../ranks.cc ${folder}/../sweep_case.cc)
target_include_directories(communicator_rank PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(communicator_rank PRIVATE purlin_settings purlin)
add_dependencies(communicator_rank atom-host)
add_dependencies(${name} communicator_rank atom-testhost)
set(harness ${CMAKE_CURRENT_SOURCE_DIR}/runtime/rendezvous/rank_process.cc)
target_sources(${name} PRIVATE ${harness})
target_compile_definitions(${name} PRIVATE PURLIN_RANK_PROGRAM="$<TARGET_FILE:communicator_rank>")
