# The Atom that stands for the switch, alone in a folder, and what calls are tried with elsewhere.
purlin_add_atom(NAME testswitch OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/plugins/testswitch
  HOST_SOURCES ${folder}/atom/atom.cc VERSION_SCRIPT ${folder}/atom/exports.version)
target_sources(${name} PRIVATE ${folder}/../ranks.cc ${folder}/../sweep_case.cc)
target_link_libraries(${name} PRIVATE purlin_fmt)
add_dependencies(${name} atom-host atom-testswitch)
if(PURLIN_HAVE_CUDA)
  add_dependencies(${name} atom-generic atom-ampere atom-hopper atom-blackwell atom-nvls
    atom-nvls-blackwell)
endif()
# The tests of the other protocols, their reductions carried out by the switch. Left out: those that
# compare the bits of arbitrary floats, which the switch does not promise, and those of what it has not: a rank
# alone, registered buffers read in place. Nor has it the order of waits that tells of a disagreement while a third rank is absent.
# Quick tries a sample of them; under a sanitizer, where only level full runs them, it does not.
set(sampled)
if(NOT PURLIN_SANITIZE)
  set(sampled sh -c "test \"$PURLIN_TEST_LEVEL\" = full || export PURLIN_TEST_LEVEL=sample && exec \"$0\" \"$@\"")
endif()
add_test(NAME runtime/communicator/by_the_switch COMMAND ${sampled} $<TARGET_FILE:test_runtime_communicator>
  "--test-case-exclude=every pair of collective*,sizes one element around*,ranks on two different host Atoms*,calls on registered buffers* all or some*,a rank runs alone*,explain says what is read in place*,registering what no memory*,a registration ends once*,an error in the peers' call ends*")
set_tests_properties(runtime/communicator/by_the_switch PROPERTIES LABELS cpu COST 2
  ENVIRONMENT "PURLIN_REDUCTION=nvls;PURLIN_PLUGIN_PATH=${PROJECT_BINARY_DIR}/tests/plugins/testswitch;PURLIN_NVLS_ENABLE=1;NCCL_NVLS_ENABLE=1;TORCH_SYMM_MEM_DISABLE_MULTICAST=0;NVSHMEM_DISABLE_NVLS=0"
  FAIL_REGULAR_EXPRESSION "no Atom with a switch path;doctest. Status: FAILURE")
