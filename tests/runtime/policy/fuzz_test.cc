// Policies made at random from the grammar and then spoilt: whatever comes in, the reader returns,
// and what it accepts obeys every rule that the rest of the runtime relies on.
#include <array>
#include <cstdint>
#include <filesystem>

#include "level.h"
#include "policy/choose.h"
#include "policy_laws.h"
#include "reading.h"

namespace purlin::policy {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2654435761u + 1) {}
  uint64_t below(uint64_t bound) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ % bound;
  }
  template <size_t N>
  const char* of(const std::array<const char*, N>& list) {
    return list[below(N)];
  }

 private:
  uint64_t state_;
};

constexpr std::array kSizes = {"0",
                               "16",
                               "1KiB",
                               "4KiB",
                               "64KiB",
                               "1MiB",
                               "2GiB",
                               "8K",
                               "-1",
                               "9223372036854775807",
                               "9223372036854775808",
                               "1e6",
                               "\"\"",
                               "[1]"};
constexpr std::array kRanks = {"1", "2", "2..8", "4..", "9..64", "8..2", "0", "65", "x"};
constexpr std::array kBytes = {"0..1KiB", "1KiB..1MiB", "1MiB..", "..0", "5..4", "..", "1KiB"};
constexpr std::array kLists = {"[all_reduce]",
                               "[all_gather, all_to_all_v]",
                               "[send_recv]",
                               "[allreduce]",
                               "[]",
                               "all_reduce",
                               "[custom, custom]"};
constexpr std::array kReductions = {"score", "nvls", "nvls-required", "fast", ""};
constexpr std::array kCounts = {"1", "2", "12", "64", "512", "513", "auto", "0x4", "4294967296"};

std::string scope(Random& random, bool bytes) {
  std::string text;
  if (random.below(2) == 0) text += std::string("collectives: ") + random.of(kLists) + ", ";
  if (random.below(2) == 0) text += std::string("ranks: ") + random.of(kRanks) + ", ";
  if (bytes && random.below(2) == 0) text += std::string("bytes: ") + random.of(kBytes) + ", ";
  return text;
}

std::string settings(Random& random) {
  std::string text;
  const std::array keys = {"chunk",        "stages", "stage_bytes", "threads",
                           "ctas: {stage", "path",   "direction",   "zero_copy"};
  for (const std::string key : keys) {
    if (random.below(3) != 0) continue;
    text += key + ": ";
    if (key == "chunk" || key == "stage_bytes")
      text += random.of(kSizes);
    else if (key == "path")
      text += random.of(std::array{"auto", "latency", "throughput", "up"});
    else if (key == "direction")
      text += random.of(std::array{"pull", "push", "both"});
    else if (key == "zero_copy")
      text += random.of(std::array{"on", "off", "true"});
    else
      text += random.of(kCounts);
    text += key[0] == 'c' && key[1] == 't' ? "}, " : ", ";
  }
  return text;
}

std::string rows(Random& random, bool bytes, const char* key, bool tuning) {
  std::string text = std::string(key) + ": {default: ";
  text += tuning ? "{" + settings(random) + "}" : random.of(kSizes);
  text += ", rows: [";
  for (uint64_t i = random.below(4); i > 0; --i)
    text += "{" + scope(random, bytes) +
            (tuning ? settings(random) : std::string("value: ") + random.of(kSizes)) + "}, ";
  return text + "]}\n";
}

std::string statement(Random& random) {
  switch (random.below(9)) {
    case 0:
      return std::string("crossover: ") + random.of(kSizes) + "\n";
    case 1:
      return rows(random, false, "crossover", false);
    case 2:
      return rows(random, false, "one_shot_limit", false);
    case 3:
      return rows(random, true, "tuning", true);
    case 4:
      return std::string("reduction: ") + random.of(kReductions) + "\n";
    case 5:
      return std::string("reduction: {rows: [{") + scope(random, true) +
             "value: " + random.of(kReductions) + "}]}\n";
    case 6:
      return std::string("staging: {latency_bytes: ") + random.of(kSizes) +
             ", pair_bytes: " + random.of(kSizes) + "}\n";
    case 7:
      return std::string("cta_budget: ") + random.of(kCounts) + "\n";
    default:
      return std::string("timeouts: {wait: ") + random.of(std::array{"1s", "5", "2min"}) + "}\n";
  }
}

std::string spoil(Random& random, std::string text) {
  constexpr std::array kBits = {"\t", "&a ",  "*a", "!!x ", ": ",  "[", "}",  "\"",   "\n",
                                "#",  "\xff", "- ", "\r",   "|\n", "%", "? ", "---\n"};
  for (uint64_t i = random.below(3); i > 0; --i) {
    const size_t at = random.below(text.size() + 1);
    if (random.below(2) == 0 && at < text.size())
      text.erase(at, 1 + random.below(4));
    else
      text.insert(at, random.of(kBits));
  }
  return text;
}

TEST_CASE("random policies are refused in form or obey the laws") {
  const uint64_t count = test::is_full() ? 200'000 : 6'000;
  uint64_t accepted = 0;
  for (uint64_t i = 0; i < count; ++i) {
    Random random(test::seed() * 1'000'003 + i);
    std::string text = "version: 1\n";
    for (uint64_t k = random.below(3) + 1; k > 0; --k) text += statement(random);
    if (random.below(2) == 0) text = spoil(random, text);
    const std::string broken = broken_law(text);
    INFO("case ", i, ", seed ", test::seed(), ", text:\n", text);
    REQUIRE(broken == "");
    accepted += read_policy(text, "p.yaml", PURLIN_DEVICE_HOST).is_ok() ? 1 : 0;
  }
  test::count_cases(count);
  // The grammar must reach both sides.
  CHECK(accepted > count / 50);
  CHECK(accepted < count);
}

TEST_CASE("the kept seeds of the fuzzer obey the laws") {
  int seeds = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::string(PURLIN_SOURCE_DIR) + "/tests/fuzz/seeds/policy_reader_fuzz")) {
    const auto text = read_text(entry.path());
    REQUIRE(text.is_ok());
    INFO(entry.path().string());
    CHECK(broken_law(*text) == "");
    ++seeds;
  }
  CHECK(seeds >= 10);
}

}  // namespace
}  // namespace purlin::policy
