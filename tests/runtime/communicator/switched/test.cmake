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
