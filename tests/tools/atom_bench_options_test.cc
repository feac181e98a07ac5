// The command line of `purlin perf atom`: what is taken, and what is said of the rest.
#include <doctest/doctest.h>

#include "tools/atom_bench/options.h"

namespace purlin::tools {
namespace {

AtomBenchArguments given() { return {}; }

void check_refused(const AtomBenchArguments& arguments, const char* word) {
  const auto options = check_arguments(arguments);
  REQUIRE_FALSE(options.ok());
  CHECK_MESSAGE(options.error().find(word) != std::string::npos, options.error());
}

TEST_CASE("what is not said is the Atom's own, over CTAs up to a whole GPU") {
  const auto options = check_arguments(given());
  REQUIRE(options.ok());
  CHECK(options->ctas == std::vector<uint32_t>{1, 2, 4, 8, 16, 32, 64, 132});
  CHECK(options->stages == std::vector<uint32_t>{0});
  CHECK(options->stage_bytes == std::vector<uint32_t>{0});
  CHECK(options->bytes == uint64_t{256} << 20);
  CHECK(options->sources == 1);
  CHECK(options->atoms.empty());
}

TEST_CASE("lists and sizes") {
  AtomBenchArguments a = given();
  a.op = "reduce";
  a.atoms = "hopper,generic";
  a.ctas = "4,8";
  a.stages = "2";
  a.stage_bytes = "4KiB,16KiB";
  a.sources = 8;
  a.dtype = "bf16";
  a.device_op = "max";
  a.direction = "push";
  const auto options = check_arguments(a);
  REQUIRE(options.ok());
  CHECK(options->atoms == std::vector<std::string>{"hopper", "generic"});
  CHECK(options->ctas == std::vector<uint32_t>{4, 8});
  CHECK(options->stage_bytes == std::vector<uint32_t>{4096, 16384});
  CHECK(options->sources == 8);
  CHECK(options->dtype == PURLIN_BF16);
  CHECK(options->op == PURLIN_MAX);
  CHECK(options->push);
}

TEST_CASE("what makes no sense is named") {
  AtomBenchArguments a = given();
  a.op = "move", check_refused(a, "--op: 'move'");
  a = given(), a.direction = "up", check_refused(a, "--direction: 'up'");
  a = given(), a.ctas = "4,x", check_refused(a, "--ctas: 'x'");
  a = given(), a.ctas = "4,", check_refused(a, "--ctas: ''");
  a = given(), a.stages = "0", check_refused(a, "--stages: '0'");
  a = given(), a.stage_bytes = "100B", check_refused(a, "--stage-bytes: '100B'");
  a = given(), a.bytes = "0", check_refused(a, "--bytes");
  a = given(), a.chunk = "7B", check_refused(a, "--chunk");
  a = given(), a.dtype = "f31", check_refused(a, "--dtype");
  a = given(), a.device_op = "premul_sum", check_refused(a, "--reduction");
  a = given(), a.sources = 17, check_refused(a, "--sources: 17");
  a = given(), a.device = -1, check_refused(a, "--ordinal: -1");
  a = given(), a.peer = 0, check_refused(a, "--peer: 0");
  a = given(), a.iterations = 0, check_refused(a, "--iters");
}

}  // namespace
}  // namespace purlin::tools
