#include "plugin/descriptor_check.h"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/plugin_descriptor_edits.h"
#include "level.h"
#include "runtime/plugin/scratch.h"

using namespace purlin;
using namespace purlin::plugin;

TEST_CASE("every faulty plugin is refused by its own rule") {
  struct Row {
    const char* file;
    const char* rule;
  };
  for (const Row& row : std::vector<Row>{{"entry-hidden", "entry-missing"},
                                         {"entry-other", "entry-missing"},
                                         {"entry-newer", "abi-newer"},
                                         {"entry-null", "entry-null"},
                                         {"entry-throws", "entry-threw"},
                                         {"entry-garbage", "descriptor-memory"},
                                         {"unresolved", "load-failed"},
                                         {"abi-major-newer", "abi-newer"},
                                         {"abi-major-older", "abi-older"},
                                         {"entry-older", "abi-older"},
                                         {"size-stale", "descriptor-size"},
                                         {"size-huge", "descriptor-memory"},
                                         {"table-stale", "descriptor-size"},
                                         {"limits-stale", "descriptor-size"},
                                         {"name-bad", "descriptor-name"},
                                         {"name-null", "descriptor-memory"},
                                         {"version-bad", "descriptor-version"},
                                         {"text-bad", "descriptor-text"},
                                         {"kind-unknown", "descriptor-kind"},
                                         {"table-hole", "table-incomplete"},
                                         {"limits-order", "limits-invalid"},
                                         {"limits-sources", "limits-invalid"},
                                         {"mask-empty", "limits-invalid"},
                                         {"does-nothing", "capabilities-none"},
                                         {"capability-unknown", "capabilities-unknown"},
                                         {"operation-unknown", "limits-invalid"},
                                         {"type-unknown", "limits-invalid"},
                                         {"limits-reserved", "reserved-used"},
                                         {"table-reserved", "reserved-used"},
                                         {"image-reserved", "reserved-used"},
                                         {"device-abi-newer", "device-abi-newer"},
                                         {"device-abi-older", "device-abi-older"}}) {
    const Verdict verdict = test::verdict_of(row.file);
    CHECK_MESSAGE(verdict.rule == row.rule,
                  row.file << ": " << verdict.rule << ", " << verdict.reason);
    CHECK_FALSE(verdict.accepted);
    CHECK_MESSAGE(!verdict.reason.empty(), row.file);
    CHECK_MESSAGE(!verdict.remedy.empty(), row.file);
  }
}

TEST_CASE("sound plugins are accepted, also one of a newer minor and one with a constructor") {
  for (const char* file : {"sound", "constructor", "abi-minor-newer", "probe-throws", "sm100a"}) {
    const Verdict verdict = test::verdict_of(file);
    CHECK_MESSAGE(verdict.accepted, file << ": " << verdict.rule << ", " << verdict.reason);
  }
}

TEST_CASE("a version mismatch prints both versions") {
  const std::string newer = test::verdict_of("abi-major-newer").reason;
  CHECK(newer == "the plugin has ABI 2.0, this library has 1.0 and serves every 1.x");
  const std::string older = test::verdict_of("abi-major-older").reason;
  CHECK(older == "the plugin has ABI 0.0, this library has 1.0 and serves every 1.x");
  const std::string entry = test::verdict_of("entry-older").reason;
  CHECK(entry.find("purlin_atom_entry_v0 (ABI 0)") != std::string::npos);
  CHECK(entry.find("purlin_atom_entry_v1 (ABI 1.0)") != std::string::npos);
  const std::string device = test::verdict_of("device-abi-newer").reason;
  CHECK(device.find(std::to_string(PURLIN_ATOM_DEVICE_ABI)) != std::string::npos);
  CHECK(device.find(std::to_string(PURLIN_ATOM_DEVICE_ABI + 1)) != std::string::npos);
}

TEST_CASE("what the loader said is kept") {
  CHECK(test::verdict_of("unresolved").reason.find("purlin_test_function_that_nobody_defines") !=
        std::string::npos);
}

TEST_CASE("spoiled descriptors get a written rule and are never read outside the plugin") {
  std::mt19937_64 random(test::seed() ^ 0xde5c);
  std::set<std::string_view> met;
  const int rounds = test::is_full() ? 300000 : 20000;
  for (int round = 0; round < rounds; ++round) {
    std::vector<uint8_t> input(1 + 3 * (random() % 4));
    for (uint8_t& byte : input) byte = static_cast<uint8_t>(random());
    met.insert(test::judge_edited(input));
    test::count_cases(1);
  }
  for (const char* rule : {"accepted", "abi-newer", "descriptor-memory", "descriptor-size",
                           "descriptor-kind", "descriptor-name", "table-incomplete",
                           "limits-invalid", "images-invalid", "device-abi-newer"}) {
    CHECK_MESSAGE(met.contains(rule), rule);
  }
}
