target_link_libraries(${name} PRIVATE purlin_tool_parts purlin_core)
set(purlin_broken_folder ${PROJECT_BINARY_DIR}/tests/tools/check/faulty)
target_compile_definitions(${name} PRIVATE
  PURLIN_BROKEN_FOLDER="${purlin_broken_folder}"
  PURLIN_FROZEN_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}/tools/check/frozen"
  PURLIN_FAULTY_FOLDER="${PROJECT_BINARY_DIR}/tests/plugins/faulty"
  PURLIN_TESTHOST_FOLDER="${PROJECT_BINARY_DIR}/tests/plugins/testhost"
  PURLIN_PRODUCT_FOLDER="${PURLIN_PLUGIN_OUTPUT_DIRECTORY}")
# The plugins that the loader's tests judge are tried too.
get_property(faulty_targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
list(FILTER faulty_targets INCLUDE REGEX "^(faulty|atom)-")
add_dependencies(${name} ${faulty_targets} atom-host)

# purlin_broken_atom(FILE definition...) builds faulty/atom.cc into FILE.so; its version script lets out what exports.so should not.
function(purlin_broken_atom file)
  set(target broken-${file})
  add_library(${target} MODULE ${CMAKE_CURRENT_SOURCE_DIR}/tools/check/faulty/atom.cc)
  target_link_libraries(${target} PRIVATE purlin_settings purlin_sdk)
  target_compile_definitions(${target} PRIVATE ${ARGN})
  target_link_options(${target} PRIVATE
    -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/tools/check/faulty/plugin.version)
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${file}
    LIBRARY_OUTPUT_DIRECTORY ${purlin_broken_folder})
  add_dependencies(test_tools_check ${target})
endfunction()

purlin_broken_atom(sound)
purlin_broken_atom(newer-minor NEWER_MINOR)
purlin_broken_atom(exports FAULT_EXPORTS)
purlin_broken_atom(constructor-crashes "FAULT_CONSTRUCTOR=std::abort()")
purlin_broken_atom(constructor-exits "FAULT_CONSTRUCTOR=std::_Exit(0)")
purlin_broken_atom(constructor-hangs FAULT_CONSTRUCTOR=hang\(\))
purlin_broken_atom(prints "FAULT_CONSTRUCTOR=std::puts(\"hello\")")
purlin_broken_atom(takes-signal "FAULT_CONSTRUCTOR=std::signal(SIGSEGV,SIG_IGN)")
purlin_broken_atom(sets-rounding "FAULT_CONSTRUCTOR=std::fesetround(FE_UPWARD)")
purlin_broken_atom(sets-variable "FAULT_CONSTRUCTOR=setenv(\"A\",\"b\",1)")
purlin_broken_atom(probe-changes FAULT_PROBE_CHANGES)
purlin_broken_atom(no-packets FAULT_CAPABILITIES=PURLIN_CAP_COPY|PURLIN_CAP_REDUCE|PURLIN_CAP_SIGNALS)
purlin_broken_atom(skips-empty FAULT_RUN=run_other FAULT_SKIPS_EMPTY)
purlin_broken_atom(done-early FAULT_RUN=run_other FAULT_DONE_EARLY)
purlin_broken_atom(crashes FAULT_CRASHES)
purlin_broken_atom(hangs FAULT_HANGS)
purlin_broken_atom(loses-tail FAULT_LOSES_TAIL)
purlin_broken_atom(overruns FAULT_OVERRUNS)
purlin_broken_atom(one-destination FAULT_RUN=run_other FAULT_ONE_DESTINATION)
purlin_broken_atom(ignores-stop FAULT_RUN=run_other FAULT_IGNORES_STOP)
purlin_broken_atom(stop-returns-0 FAULT_RUN=run_other FAULT_STOP_RETURNS_0)
purlin_broken_atom(min-for-max FAULT_RUN=run_with_reduce FAULT_MIN_FOR_MAX)
purlin_broken_atom(scales-not FAULT_RUN=run_other FAULT_SCALES_NOT)
purlin_broken_atom(reversed FAULT_RUN=run_with_reduce FAULT_REVERSED)
purlin_broken_atom(callers-rounding FAULT_RUN=run_with_reduce FAULT_CALLERS_ROUNDING)
purlin_broken_atom(leaves-rounding FAULT_RUN=run_with_reduce FAULT_LEAVES_ROUNDING)
purlin_broken_atom(few-sources FAULT_RUN=run_with_reduce FAULT_FEW_SOURCES)
purlin_broken_atom(unpadded FAULT_SEND=send_unpadded)
purlin_broken_atom(any-tag FAULT_RECEIVE=receive_any)
purlin_broken_atom(tag-first FAULT_SEND=send_tag_first)
purlin_broken_atom(shared-scratch FAULT_SHARED_SCRATCH)
purlin_broken_atom(rare-size FAULT_RARE_SIZE)

# Races between threads and a short time limit need processors that other tests leave alone.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${name}_serial.cmake "foreach(test IN LISTS ${name}_TESTS)
  if(test MATCHES \"(with a race|/a hang) \")
    set_tests_properties(\"\${test}\" PROPERTIES RUN_SERIAL TRUE)
  endif()
endforeach()\n")
set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES
  ${CMAKE_CURRENT_BINARY_DIR}/${name}_serial.cmake)
