#include "program/sources.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "runtime/program/variable.h"

using namespace purlin;

TEST_CASE("the cache folder: own variable, XDG, home, none") {
  const Variable home("HOME", "/h"), xdg("XDG_CACHE_HOME", "/x"), own("PURLIN_CACHE_DIR", "/c");
  CHECK(ProgramSources::from_environment().cache == "/c");
  {
    const Variable none("PURLIN_CACHE_DIR", nullptr);
    CHECK(ProgramSources::from_environment().cache == "/x/purlin");
    const Variable no_xdg("XDG_CACHE_HOME", "relative");
    CHECK(ProgramSources::from_environment().cache == "/h/.cache/purlin");
    const Variable no_home("HOME", nullptr);
    CHECK(ProgramSources::from_environment().cache.empty());
  }
}

TEST_CASE("prelinked folders come in order, relative and empty ones are left out") {
  const Variable path("PURLIN_PROGRAM_PATH", "/a:b::/c/d:");
  CHECK(ProgramSources::from_environment().prelinked == std::vector<std::string>{"/a", "/c/d"});
  const Variable none("PURLIN_PROGRAM_PATH", nullptr);
  CHECK(ProgramSources::from_environment().prelinked.empty());
}

TEST_CASE("libraries are looked for by the loader, then in CUDA_HOME, then in the usual place") {
  const Variable home("CUDA_HOME", "/opt/cuda"), path("CUDA_PATH", nullptr);
  const auto folders = default_library_search().folders;
  CHECK(folders == std::vector<std::string>{"", "/opt/cuda/lib64", "/usr/local/cuda/lib64"});
}
