#include "program/constants.h"

#include <doctest/doctest.h>

#include <vector>

using purlin::Constant;
using purlin::constants_source;

TEST_CASE("each constant becomes one function that carries the device ABI in its name") {
  const std::vector<Constant> constants = {{"nranks", 8}, {"members", ~0ull}};
  const auto source = constants_source(constants);
  REQUIRE(source.is_ok());
  CHECK(*source ==
        "extern \"C\" __device__ unsigned long long purlin_constant_nranks_d2() { return 8ull; }\n"
        "extern \"C\" __device__ unsigned long long purlin_constant_members_d2() "
        "{ return 18446744073709551615ull; }\n");
}

TEST_CASE("a name that is not an identifier part, or comes twice, is refused by name") {
  for (const char* name : {"", "Upper", "a b", "x;", "é"}) {
    const std::vector<Constant> constants = {{name, 1}};
    const auto source = constants_source(constants);
    REQUIRE_FALSE(source.is_ok());
    CHECK(source.status().code() == PURLIN_INVALID_ARGUMENT);
  }
  CHECK_FALSE(constants_source(std::vector<Constant>{{std::string(49, 'a'), 1}}).is_ok());
  const auto twice = constants_source(std::vector<Constant>{{"op", 1}, {"op", 2}});
  REQUIRE_FALSE(twice.is_ok());
  CHECK(twice.status().message().find("'op' is given twice") != std::string::npos);
}
