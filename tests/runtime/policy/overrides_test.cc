#include "policy/overrides.h"

#include <cstdlib>
#include <map>

#include "policy/capacity.h"
#include "reading.h"

namespace purlin::policy {
namespace {

using testing::holds;
using testing::must_read;
using testing::starts_with;

Environment only(const std::string& name, const std::string& value) {
  return [=](const char* asked) -> std::optional<std::string> {
    return name == asked ? std::optional(value) : std::nullopt;
  };
}

Policy with(const std::string& name, const std::string& value, const std::string& body = "") {
  Policy policy = must_read(body);
  const Status status = apply_environment(policy, only(name, value));
  REQUIRE_MESSAGE(status.is_ok(), status.message());
  return policy;
}

std::string error_with(const std::string& name, const std::string& value,
                       const std::string& body = "") {
  Policy policy = must_read(body);
  const Status status = apply_environment(policy, only(name, value));
  CHECK(status.code() == PURLIN_POLICY_ERROR);
  return status.message();
}

TEST_CASE("a variable replaces the value, its rows, and where it came from") {
  const std::string body =
      "crossover: {rows: [{ranks: 2, value: 8KiB}]}\n"
      "reduction: {rows: [{collectives: [all_reduce], value: nvls}]}\n"
      "tuning: {rows: [{ranks: 2, chunk: 2KiB, path: throughput, stages: 4}]}\n";
  const Policy crossover = with("PURLIN_CROSSOVER", "2KiB", body);
  CHECK(crossover.crossover.at(PURLIN_ALL_REDUCE, 2, 0).value == 2048);
  CHECK(crossover.crossover.at(PURLIN_ALL_REDUCE, 2, 0).origin.text() ==
        "environment variable PURLIN_CROSSOVER");
  CHECK(
      with("PURLIN_REDUCTION", "nvls-required", body).reduction.at(PURLIN_ALL_REDUCE, 2, 0).value ==
      PURLIN_REDUCTION_NVLS_REQUIRED);
  const Policy chunk = with("PURLIN_CHUNK", "4KiB", body);
  CHECK(chunk.tuning.chunk->value == 4096);
  CHECK_FALSE(chunk.tuning_rows[0].tuning.chunk.has_value());
  CHECK(chunk.tuning_rows[0].tuning.stages->value == 4);
  const Policy path = with("PURLIN_PATH", "switch", body);
  CHECK(path.tuning.path->value == PURLIN_PATH_SWITCH);
  CHECK_FALSE(path.tuning_rows[0].tuning.path.has_value());
  CHECK(with("PURLIN_PATH", "latency").tuning.path->value == PURLIN_PATH_LATENCY);
  const Policy datapath = with("PURLIN_DATAPATH", "hopper,generic,auto");
  REQUIRE(datapath.datapath.prefer.size() == 3);
  CHECK(datapath.datapath.prefer[1].value == "generic");
  CHECK(with("PURLIN_CTA_BUDGET", "12").cta_budget.value == 12);
  CHECK(with("PURLIN_CTA_BUDGET", "auto", "cta_budget: 4\n").cta_budget.value == 0);
  CHECK_FALSE(with("PURLIN_CHECKING", "off").checking.value);
  CHECK(with("PURLIN_TIMEOUT", "2s").wait_timeout.value == std::chrono::seconds(2));
  CHECK(with("PURLIN_TIMEOUT", "2s").create_timeout.origin.source == Source::kBuiltIn);
  CHECK(with("PURLIN_CREATE_TIMEOUT", "2s").create_timeout.value == std::chrono::seconds(2));
}

TEST_CASE("an empty variable counts as not set") {
  CHECK(with("PURLIN_CROSSOVER", "").crossover.otherwise.origin.source == Source::kBuiltIn);
}

TEST_CASE("a bad variable is an error and leaves the policy as it was") {
  struct Bad {
    std::string name, value, part;
  };
  const Bad table[] = {
      {"PURLIN_TIMEOUT", "10", "did you mean \"10s\"?"},
      {"PURLIN_CREATE_TIMEOUT", "-1s", "is no duration"},
      {"PURLIN_REDUCTION", "nvl", "did you mean \"nvls\"?"},
      {"PURLIN_PATH", "Latency", "did you mean \"latency\"?"},
      {"PURLIN_CROSSOVER", "8K", "did you mean \"8KiB\"?"},
      {"PURLIN_CROSSOVER", "1GiB", "does not fit"},
      {"PURLIN_CHUNK", "1000", "multiple of 16"},
      {"PURLIN_CHUNK", "512MiB", "does not fit"},
      {"PURLIN_DATAPATH", "a,,b", "empty name"},
      {"PURLIN_DATAPATH", "auto,a", "write it last"},
      {"PURLIN_CTA_BUDGET", "0", "outside 1..512"},
      {"PURLIN_CTA_BUDGET", "2147483648", "outside 1..512"},
      {"PURLIN_CTA_BUDGET", "few", "or auto"},
      {"PURLIN_CHECKING", "yes", "Write one of: on, off"},
      {"PURLIN_NVLS_ENABLE", "maybe", "neither 0 nor 1"},
  };
  for (const Bad& bad : table) {
    const std::string error = error_with(bad.name, bad.value);
    INFO(bad.name, "=", bad.value, ": ", error);
    CHECK(starts_with(error, "environment variable " + bad.name + ": "));
    CHECK(holds(error, bad.part));
  }
  Policy policy = must_read("crossover: 8KiB\n");
  const Status status = apply_environment(policy, only("PURLIN_CROSSOVER", "1GiB"));
  CHECK_FALSE(status.is_ok());
  CHECK(policy.crossover.otherwise.value == 8192);
}

TEST_CASE("options of a communicator override everything") {
  Policy policy = with("PURLIN_TIMEOUT", "2s", "cta_budget: 4\nchecking: on\n");
  purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
  apply_options(policy, options);
  CHECK(policy.cta_budget.value == 4);
  CHECK(policy.wait_timeout.value == std::chrono::seconds(2));
  options.cta_budget = 9;
  options.timeout_ms = 1500;
  options.checking = 0;
  apply_options(policy, options);
  CHECK(policy.cta_budget.value == 9);
  CHECK(policy.cta_budget.origin.text() == "API field purlin_comm_options::cta_budget");
  CHECK(policy.wait_timeout.value == std::chrono::milliseconds(1500));
  CHECK(policy.create_timeout.value == std::chrono::milliseconds(1500));
  CHECK_FALSE(policy.checking.value);
  options.cta_budget = 512;
  apply_options(policy, options);
  CHECK(check_against(policy, {}, 2).is_ok());
  options.cta_budget = 1u << 31;
  apply_options(policy, options);
  const Status refused = check_against(policy, {}, 2);
  CHECK(refused.code() == PURLIN_INVALID_ARGUMENT);
  CHECK(starts_with(refused.message(),
                    "API field purlin_comm_options::cta_budget: a budget of "
                    "2147483648 CTAs is above 512"));
}

TEST_CASE("each switch turns NVLS off, and is named") {
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"PURLIN_NVLS_ENABLE", "0"},
                                          {"NCCL_NVLS_ENABLE", "0"},
                                          {"TORCH_SYMM_MEM_DISABLE_MULTICAST", "1"},
                                          {"NVSHMEM_DISABLE_NVLS", "True"}}) {
    const auto off = nvls_off_switch(only(name, value));
    REQUIRE(off.has_value());
    CHECK(*off == name + "=" + value);
  }
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"PURLIN_NVLS_ENABLE", "1"},
                                          {"NCCL_NVLS_ENABLE", "2"},
                                          {"TORCH_SYMM_MEM_DISABLE_MULTICAST", "0"},
                                          {"NVSHMEM_DISABLE_NVLS", ""}})
    CHECK_FALSE(nvls_off_switch(only(name, value)).has_value());
  CHECK_FALSE(nvls_off_switch(only("NVSHMEM_DISABLE_NVLS", "False")).has_value());
  // A word that nobody knows is not taken for leave.
  CHECK(nvls_off_switch(only("NVSHMEM_DISABLE_NVLS", "2")).has_value());
  CHECK_FALSE(nvls_off_switch(only("OTHER", "0")).has_value());
}

TEST_CASE("the process's environment is read") {
  REQUIRE(setenv("PURLIN_CHUNK", "2KiB", 1) == 0);
  CHECK(process_environment()("PURLIN_CHUNK") == "2KiB");
  REQUIRE(unsetenv("PURLIN_CHUNK") == 0);
  CHECK_FALSE(process_environment()("PURLIN_CHUNK").has_value());
}

}  // namespace
}  // namespace purlin::policy
