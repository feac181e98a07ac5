#include <doctest/doctest.h>

#include <map>

#include "tools/launched.h"
#include "tools/perf_options.h"

namespace purlin::tools {
namespace {

Environment variables(std::map<std::string, std::string> values) {
  return [values](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

PerfArguments asked(const char* collective) {
  PerfArguments given;
  given.collective = collective;
  return given;
}

std::string refusal(const PerfArguments& given, const Environment& environment = variables({})) {
  const auto options = check_arguments(given, environment);
  return options ? "" : options.error();
}

TEST_CASE("launchers are recognized by their variables") {
  CHECK_FALSE(find_launcher(variables({}))->has_value());
  const auto own = find_launcher(variables({{"PURLIN_RANK", "2"}, {"PURLIN_NRANKS", "4"}}));
  REQUIRE(own->has_value());
  CHECK((*own)->rank == 2);
  CHECK((*own)->nranks == 4);
  CHECK((*find_launcher(variables({{"RANK", "0"}, {"WORLD_SIZE", "2"}})))->launcher == "torchrun");
  // Slurm's variables count inside a step only.
  CHECK_FALSE(
      find_launcher(variables({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}))->has_value());
  CHECK((*find_launcher(
             variables({{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "8"}, {"SLURM_STEP_ID", "0"}})))
            ->nranks == 8);
  CHECK(find_launcher(variables({{"RANK", "0"}})).error().find("WORLD_SIZE is not") !=
        std::string::npos);
  CHECK_FALSE(find_launcher(variables({{"RANK", "x"}, {"WORLD_SIZE", "2"}})).ok());
}

TEST_CASE("ranks are threads unless a launcher started several") {
  PerfArguments given = asked("all_reduce");
  CHECK(check_arguments(given, variables({}))->nranks == 4);
  const Environment launched = variables({{"PURLIN_RANK", "0"}, {"PURLIN_NRANKS", "3"}});
  CHECK(check_arguments(given, launched)->as_processes);
  CHECK(check_arguments(given, launched)->nranks == 3);
  given.ranks = 2;
  CHECK(refusal(given, launched).find("purlin run started 3") != std::string::npos);
  CHECK_FALSE(
      check_arguments(given, variables({{"RANK", "0"}, {"WORLD_SIZE", "1"}}))->as_processes);
  given.ranks = 65;
  CHECK(refusal(given).find("1 to 64") != std::string::npos);
}

TEST_CASE("options that make no sense together are refused by name") {
  PerfArguments given = asked("all_gather");
  given.ops = "sum";
  CHECK(refusal(given).find("all_gather copies and has no operation") != std::string::npos);
  given = asked("all_reduce");
  given.root = 0;
  CHECK(refusal(given).find("has no root") != std::string::npos);
  given.root = -1;
  given.skew = "zipf:0.125";
  CHECK(refusal(given).find("--skew") != std::string::npos);
  given = asked("all_to_all_v");
  given.in_place = true;
  CHECK(refusal(given).find("no in-place form") != std::string::npos);
  given = asked("broadcast");
  given.root = 4;
  CHECK(refusal(given).find("0 to 3") != std::string::npos);
  given = asked("barrier");
  given.begin = "8";
  CHECK(refusal(given).find("no size") != std::string::npos);
  given = asked("send_recv");
  given.path = "latency";
  CHECK(refusal(given).find("--path") != std::string::npos);
  given = asked("all_gather_v");
  given.skew = "uniform";
  given.random_counts = true;
  CHECK(refusal(given).find("at most one") != std::string::npos);
  given = asked("all_reduce");
  given.alone = 4;
  CHECK(refusal(given).find("0 to 3") != std::string::npos);
  given.alone = 3;
  given.versus = "nccl";
  CHECK(refusal(given).find("leave --vs out") != std::string::npos);
  given = asked("all_reduce");
  given.device = "host";
  given.behind = true;
  CHECK(refusal(given).find("no kernels") != std::string::npos);
  given = asked("send_recv");
  given.alone = 0;
  CHECK(refusal(given).find("--alone") != std::string::npos);
}

TEST_CASE("sizes have defaults that follow each other") {
  PerfArguments given = asked("all_reduce");
  CHECK(check_arguments(given, variables({}))->sizes.size() == 17);
  given.begin = "128MiB";
  CHECK(check_arguments(given, variables({}))->sizes == std::vector<uint64_t>{128 << 20});
  given = asked("all_reduce");
  given.end = "0";
  CHECK(check_arguments(given, variables({}))->sizes == std::vector<uint64_t>{0});
  given.begin = "8";
  CHECK(refusal(given).find("8B, is above the last, 0B") != std::string::npos);
  given = asked("all_reduce");
  given.factor = 1;
  CHECK(refusal(given).find("-f") != std::string::npos);
  given.begin = "1K";
  CHECK(refusal(given).find("1KiB") != std::string::npos);
}

TEST_CASE("cases are types times operations times sizes") {
  PerfArguments given = asked("all_reduce");
  given.dtypes = "f32,i8";
  given.ops = "all";
  given.begin = "4";
  given.end = "16";
  const auto cases = cases_of(*check_arguments(given, variables({})));
  CHECK(cases.size() == 2 * 6 * 3);
  CHECK(cases[1].count == 2);
  CHECK(cases.back().dtype == PURLIN_I8);
  given = asked("all_to_all_v");
  given.begin = given.end = "1MiB";
  given.skew = "zipf:0.125";
  CHECK(cases_of(*check_arguments(given, variables({})))[0].counts.size() == 4);
}

TEST_CASE("bad values are refused with what is accepted") {
  PerfArguments given = asked("all_reduce");
  given.timeout_seconds = 0;
  CHECK(refusal(given).find("--timeout") != std::string::npos);
  given = asked("all_reduce");
  given.iterations = 0;
  CHECK(refusal(given).find("--iters") != std::string::npos);
  given = asked("all_reduce");
  given.device = "gpu";
  CHECK(refusal(given).find("unknown device \"gpu\"") != std::string::npos);
  given = asked("all_gather_v");
  given.placement = "gaped";
  CHECK(refusal(given).find("did you mean \"gapped\"?") != std::string::npos);
  CHECK(refusal(asked("al_reduce")).find("did you mean \"all_reduce\"?") != std::string::npos);
}

}  // namespace
}  // namespace purlin::tools
