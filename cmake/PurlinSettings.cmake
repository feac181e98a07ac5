# Compiler settings shared by every target, and the output folders.
# -O3 is asked for where it pays, by the files that loop over elements.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(PURLIN_PLUGIN_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/purlin/plugins)

find_package(Threads REQUIRED)
# Paths below the source folder are seen as relative, so that all clones and worktrees share one cache.
find_program(PURLIN_CCACHE ccache)
if(PURLIN_CCACHE)
  set(purlin_launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
    CCACHE_NOHASHDIR=true ${PURLIN_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${purlin_launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${purlin_launcher})
endif()

# Warnings, sanitizer and the floating-point contract (no contraction) as one interface target.
add_library(purlin_settings INTERFACE)
target_compile_options(purlin_settings INTERFACE -Wall -Wextra -ffp-contract=off
  $<$<COMPILE_LANGUAGE:CXX>:-Wconversion>)
# g++ 12 reports overlaps and overflows in the standard library's own code that cannot happen (GCC bugs
# 105651 and 105329).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(purlin_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>
    -Wno-stringop-overflow -Wno-array-bounds)
endif()
if(PURLIN_WERROR)
  target_compile_options(purlin_settings INTERFACE -Werror)
endif()
if(PURLIN_SANITIZE)
  target_compile_options(purlin_settings INTERFACE -fsanitize=${PURLIN_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(purlin_settings INTERFACE -fsanitize=${PURLIN_SANITIZE})
endif()
