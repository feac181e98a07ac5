# libFuzzer targets, clang only, kept apart from the other objects: each is compiled with its sources.
#   purlin_add_fuzzer(NAME name SOURCES file... LIBRARIES file...)
# builds the target NAME_fuzz, tests/fuzz/bin/NAME, and registers it for SECONDS with ctest under the label "fuzz"; seeds lie in
# tests/fuzz/NAME_seeds. Nothing happens unless PURLIN_FUZZ is on and clang++ is found.
option(PURLIN_FUZZ "Build the fuzz targets (needs clang++)" OFF)
set(PURLIN_FUZZ_SECONDS 60 CACHE STRING "How long ctest runs each fuzz target")
if(PURLIN_FUZZ)
  find_program(PURLIN_CLANGXX NAMES clang++ clang++-14 clang++-15 clang++-16)
  if(NOT PURLIN_CLANGXX)
    message(WARNING "PURLIN_FUZZ is on, but clang++ was not found: no fuzz target is built")
  endif()
endif()

function(purlin_add_fuzzer)
  if(NOT PURLIN_FUZZ OR NOT PURLIN_CLANGXX)
    return()
  endif()
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;LIBRARIES" ${ARGN})
  set(program ${CMAKE_BINARY_DIR}/tests/fuzz/bin/${ARG_NAME})
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/tests/fuzz/bin)
  set(flags -std=c++20 -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer,address,undefined
    -fno-sanitize-recover=undefined -DFMT_HEADER_ONLY=1 -I${PROJECT_SOURCE_DIR}
    -I${PROJECT_SOURCE_DIR}/runtime/include -I${PROJECT_SOURCE_DIR}/runtime/src
    -I${PROJECT_SOURCE_DIR}/tests)
  set(objects "")
  foreach(source ${ARG_SOURCES})
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    set(object ${CMAKE_BINARY_DIR}/tests/fuzz/${ARG_NAME}/${path}.o)
    get_filename_component(folder ${object} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${object}
      COMMAND ${PURLIN_CCACHE} ${PURLIN_CLANGXX} ${flags} -MD -MF ${object}.d -c ${source}
              -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  add_custom_command(OUTPUT ${program}
    COMMAND ${PURLIN_CLANGXX} -fsanitize=fuzzer,address,undefined ${objects} ${ARG_LIBRARIES}
            -o ${program}
    DEPENDS ${objects} VERBATIM)
  add_custom_target(${ARG_NAME}_fuzz ALL DEPENDS ${program})
  # New inputs go to the build folder; the kept seeds are read only.
  set(found ${CMAKE_BINARY_DIR}/tests/fuzz/${ARG_NAME}/corpus)
  file(MAKE_DIRECTORY ${found})
  add_test(NAME fuzz/${ARG_NAME}
    COMMAND ${program} -max_total_time=${PURLIN_FUZZ_SECONDS} -timeout=10 ${found}
            ${PROJECT_SOURCE_DIR}/tests/fuzz/${ARG_NAME}_seeds)
  set_tests_properties(fuzz/${ARG_NAME} PROPERTIES LABELS fuzz)
endfunction()
