include(PurlinFuzz)
file(GLOB purlin_policy_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/src/policy/*.cc)
purlin_add_fuzzer(NAME policy_reader
  SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/policy_reader_fuzz.cc ${purlin_policy_sources}
  LIBRARIES ${PURLIN_YAML_CPP} -ldl)
