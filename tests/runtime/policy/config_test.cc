// The policies that are shipped.
#include <filesystem>
#include <map>

#include "policy/capacity.h"
#include "policy/match.h"
#include "policy/search.h"
#include "reading.h"

namespace purlin::policy {
namespace {

namespace fs = std::filesystem;

const std::string kFolder = std::string(PURLIN_SOURCE_DIR) + "/config";

Found shipped_for(const std::string& device) {
  Request request;
  request.folders = {kFolder};
  request.environment = [](const char*) { return std::nullopt; };
  auto found = find_policy(*device_facts_of(device), request);
  REQUIRE_MESSAGE(found.is_ok(), found.status().message());
  return std::move(*found);
}

TEST_CASE("every device finds the policy of its family") {
  const std::map<std::string, std::string> families = {
      {"host", "host"},         {"sm_75", "default GPU"},  {"sm_80", "A100"},
      {"sm_86", "default GPU"}, {"sm_90", "H100, H200"},   {"sm_100", "B200, B300"},
      {"sm_103", "B200, B300"}, {"sm_120", "default GPU"},
  };
  for (const auto& [device, name] : families) {
    const Found found = shipped_for(device);
    INFO(device, "\n", trace_text(found.trace));
    CHECK(found.policy.name == name);
  }
}

TEST_CASE("each shipped policy states reduction score and its crossover, and fits at all ranks") {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    INFO(entry.path().string());
    const std::string text = *read_text(entry.path());
    const auto match = read_match(text, entry.path());
    REQUIRE(match.is_ok());
    REQUIRE(match->kind.has_value());
    const auto policy = read_policy(text, entry.path(), match->kind->value);
    REQUIRE_MESSAGE(policy.is_ok(), policy.status().message());
    CHECK(policy->reduction.otherwise.value == PURLIN_REDUCTION_SCORE);
    CHECK(policy->reduction.otherwise.origin.source == Source::kFile);
    CHECK(policy->reduction.rows.empty());
    CHECK(policy->crossover.otherwise.origin.source == Source::kFile);
    for (int n = 1; n <= PURLIN_MAX_RANKS; ++n) {
      const Status status = check_against(*policy, {}, n);
      CHECK_MESSAGE(status.is_ok(), status.message());
    }
  }
  CHECK(files == 5);
}

TEST_CASE("pipelines of the shipped policies fit the shared memory of their devices") {
  for (const char* device : {"sm_80", "sm_90", "sm_100", "sm_103"}) {
    const Policy policy = shipped_for(device).policy;
    const uint64_t bytes = uint64_t{policy.tuning.stages->value} * policy.tuning.stage_bytes->value;
    CHECK(bytes > 0);
    CHECK(bytes + 4096 <= device_facts_of(device)->shared_bytes_per_block);
  }
}

}  // namespace
}  // namespace purlin::policy
