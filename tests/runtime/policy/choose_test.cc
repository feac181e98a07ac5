#include "policy/choose.h"

#include "level.h"
#include "policy/capacity.h"
#include "policy/words.h"
#include "reading.h"

namespace purlin::policy {
namespace {

using testing::holds;
using testing::must_read;

Query query_of(purlin_collective collective, int nranks, uint64_t bytes) {
  Query query;
  query.collective = collective;
  query.nranks = nranks;
  query.bytes = bytes;
  return query;
}

Choice must_choose(const Policy& policy, const Query& query) {
  auto choice = choose(policy, query);
  REQUIRE_MESSAGE(choice.is_ok(), choice.status().message());
  return *choice;
}

TEST_CASE("one boundary means the same for every collective") {
  const Policy policy =
      must_read("crossover: 1MiB\nstaging: {latency_bytes: 8MiB, pair_bytes: 2MiB}\n");
  for (unsigned c = 0; c < PURLIN_COLLECTIVE_COUNT; ++c) {
    if (c == PURLIN_BARRIER) continue;
    const auto collective = static_cast<purlin_collective>(c);
    INFO(word(collective));
    for (const uint64_t size : {0ull, 1ull, (1ull << 20) - 1, 1ull << 20})
      CHECK(must_choose(policy, query_of(collective, 2, size)).path.value == PURLIN_PATH_LATENCY);
    for (const uint64_t size : {(1ull << 20) + 1, 1ull << 33, ~0ull})
      CHECK(must_choose(policy, query_of(collective, 2, size)).path.value ==
            PURLIN_PATH_THROUGHPUT);
    CHECK(must_choose(policy, query_of(collective, 2, 5)).path.origin.text() == "p.yaml:2:12");
  }
}

TEST_CASE("the row that holds the call decides, and says so") {
  const Policy policy = must_read(
      "crossover:\n"
      "  default: 1KiB\n"
      "  rows:\n"
      "    - {collectives: [all_reduce, all_gather], ranks: 2..4, value: 4KiB}\n");
  const auto path = [&](purlin_collective c, int n, uint64_t size) {
    return must_choose(policy, query_of(c, n, size)).path;
  };
  CHECK(path(PURLIN_ALL_REDUCE, 4, 4096).value == PURLIN_PATH_LATENCY);
  CHECK(path(PURLIN_ALL_REDUCE, 4, 4096).origin.text() == "p.yaml:5:67");
  CHECK(path(PURLIN_ALL_REDUCE, 5, 4096).value == PURLIN_PATH_THROUGHPUT);
  CHECK(path(PURLIN_ALL_REDUCE, 5, 4096).origin.text() == "p.yaml:3:12");
  CHECK(path(PURLIN_ALL_TO_ALL, 4, 4096).value == PURLIN_PATH_THROUGHPUT);
}

TEST_CASE("one shot ends at the smaller of its limit and the crossover") {
  const Policy policy = must_read("crossover: 4KiB\none_shot_limit: 1KiB\n");
  CHECK(must_choose(policy, query_of(PURLIN_ALL_REDUCE, 2, 1024)).one_shot.value);
  CHECK_FALSE(must_choose(policy, query_of(PURLIN_ALL_REDUCE, 2, 1025)).one_shot.value);
  CHECK(must_choose(policy, query_of(PURLIN_ALL_REDUCE, 2, 1025)).path.value ==
        PURLIN_PATH_LATENCY);
  CHECK_FALSE(must_choose(policy, query_of(PURLIN_ALL_GATHER, 2, 8)).one_shot.value);
  const Policy wide = must_read("crossover: 4KiB\none_shot_limit: 16KiB\n");
  CHECK(must_choose(wide, query_of(PURLIN_ALL_REDUCE, 2, 4096)).one_shot.value);
  CHECK_FALSE(must_choose(wide, query_of(PURLIN_ALL_REDUCE, 2, 4097)).one_shot.value);
}

TEST_CASE("a tuning row sets what it says and leaves the rest to the default") {
  const Policy policy = must_read(
      "tuning:\n"
      "  default: {chunk: 32KiB, direction: push}\n"
      "  rows:\n"
      "    - {collectives: [all_reduce], bytes: 1MiB.., chunk: 16KiB, ctas: {reduce: 7}, threads: "
      "64}\n");
  const Choice inside = must_choose(policy, query_of(PURLIN_ALL_REDUCE, 3, (1u << 20) + 1));
  CHECK(inside.chunk.value == 16384);
  CHECK(inside.chunk.origin.line == 5);
  CHECK(inside.reduce_ctas.value == 7);
  CHECK(inside.stage_ctas.value == 1);
  CHECK(inside.stage_ctas.origin.source == Source::kBuiltIn);
  CHECK(inside.threads.value == 64);
  CHECK(inside.direction.value == Direction::kPush);
  const Choice outside = must_choose(policy, query_of(PURLIN_ALL_REDUCE, 3, 1u << 20));
  CHECK(outside.chunk.value == 32768);
  CHECK(outside.threads.value == 0);
}

TEST_CASE("without a word about it only pairwise collectives push") {
  const Policy policy = must_read("");
  const auto direction = [&](purlin_collective c) {
    return must_choose(policy, query_of(c, 2, 1u << 20)).direction.value;
  };
  CHECK(direction(PURLIN_ALL_TO_ALL) == Direction::kPush);
  CHECK(direction(PURLIN_ALL_TO_ALL_V) == Direction::kPush);
  CHECK(direction(PURLIN_SEND_RECV) == Direction::kPush);
  CHECK(direction(PURLIN_ALL_REDUCE) == Direction::kPull);
  CHECK(direction(PURLIN_ALL_GATHER) == Direction::kPull);
}

TEST_CASE("a forced path is taken, or refused where it cannot carry the call") {
  const Policy policy = must_read("crossover: 1KiB\n");
  Query query = query_of(PURLIN_ALL_REDUCE, 4, 100);
  query.path = PURLIN_PATH_THROUGHPUT;
  CHECK(must_choose(policy, query).path.value == PURLIN_PATH_THROUGHPUT);
  CHECK(must_choose(policy, query).path.origin.text() == "API field purlin_call::path");
  query.path = PURLIN_PATH_LATENCY;
  query.bytes = packet_capacity(policy, PURLIN_ALL_REDUCE, 4, false);
  CHECK(must_choose(policy, query).path.value == PURLIN_PATH_LATENCY);
  query.bytes += 1;
  const auto refused = choose(policy, query);
  REQUIRE_FALSE(refused.is_ok());
  CHECK(refused.status().code() == PURLIN_UNSUPPORTED);
  CHECK(
      holds(refused.status().message(), "forced by API field purlin_call::path, carries at most"));
  query.path = PURLIN_PATH_SWITCH;
  CHECK(holds(choose(policy, query).status().message(), "no Atom with a switch path is bound"));
}

TEST_CASE("a skewed reduce_scatter_v leaves the packets although its sum is small") {
  const Policy policy = must_read("crossover: 64KiB\nstaging: {latency_bytes: 512KiB}\n");
  Query query = query_of(PURLIN_REDUCE_SCATTER_V, 8, 64 * 1024);
  CHECK(must_choose(policy, query).path.value == PURLIN_PATH_LATENCY);
  query.largest_part = 8 * 1024;
  CHECK(must_choose(policy, query).path.value == PURLIN_PATH_LATENCY);
  query.largest_part = 64 * 1024;
  const Choice choice = must_choose(policy, query);
  CHECK(choice.path.value == PURLIN_PATH_THROUGHPUT);
  REQUIRE(choice.notes.size() == 1);
  CHECK(holds(choice.notes[0], "largest part of 64KiB"));
  query.largest_part = ~0ull;
  CHECK(must_choose(policy, query).path.value == PURLIN_PATH_THROUGHPUT);
}

struct SwitchCase {
  const char* body;
  purlin_collective collective;
  const char* refusal;  // "" when the switch can be had
  purlin_path path;     // AUTO: the choice is an error
  purlin_reduction reduction;
};

TEST_CASE("NVLS is used only where it is asked for and can be had") {
  const auto score = PURLIN_REDUCTION_SCORE;
  const auto nvls = PURLIN_REDUCTION_NVLS;
  const auto fast = PURLIN_PATH_SWITCH;
  const auto slow = PURLIN_PATH_THROUGHPUT;
  const auto error = PURLIN_PATH_AUTO;
  const char* all_gather_row = "reduction: {rows: [{collectives: [all_gather], value: nvls}]}\n";
  const SwitchCase cases[] = {
      {"", PURLIN_ALL_REDUCE, "", slow, score},
      {"reduction: score\n", PURLIN_ALL_REDUCE, "", slow, score},
      {"reduction: nvls\n", PURLIN_ALL_REDUCE, "", fast, nvls},
      {"reduction: nvls\n", PURLIN_REDUCE_SCATTER, "", fast, nvls},
      {"reduction: nvls\n", PURLIN_ALL_REDUCE, "no multicast", slow, score},
      {"reduction: nvls-required\n", PURLIN_ALL_REDUCE, "", fast, nvls},
      {"reduction: nvls-required\n", PURLIN_ALL_REDUCE, "no multicast", error, score},
      {"reduction: nvls\n", PURLIN_REDUCE, "", slow, score},
      {"reduction: nvls-required\n", PURLIN_REDUCE, "", error, score},
      {"reduction: nvls-required\n", PURLIN_ALL_TO_ALL, "", slow, score},
      {"reduction: nvls-required\n", PURLIN_ALL_GATHER, "", slow, score},
      {all_gather_row, PURLIN_ALL_GATHER, "", fast, score},
      {all_gather_row, PURLIN_ALL_REDUCE, "", slow, score},
  };
  for (const SwitchCase& entry : cases) {
    INFO(std::string(entry.body), " ", word(entry.collective), " ", std::string(entry.refusal));
    const Policy policy = must_read(entry.body);
    Query query = query_of(entry.collective, 4, 1u << 20);
    query.switch_refusal = entry.refusal;
    const auto choice = choose(policy, query);
    REQUIRE(choice.is_ok() == (entry.path != error));
    if (!choice.is_ok()) {
      CHECK(choice.status().code() == PURLIN_UNSUPPORTED);
      CHECK(holds(choice.status().message(), "NVLS is required by p.yaml:2:12"));
      continue;
    }
    CHECK(choice->path.value == entry.path);
    CHECK(choice->reduction.value == entry.reduction);
    const bool fell_back =
        holds(entry.body, "nvls\n") && entry.path != fast && entry.collective != PURLIN_ALL_GATHER;
    CHECK(choice->notes.size() == (fell_back ? 1u : 0u));
  }
}

TEST_CASE("reduction may depend on the size") {
  const Policy policy =
      must_read("reduction: {rows: [{collectives: [all_reduce], bytes: 1MiB.., value: nvls}]}\n");
  Query query = query_of(PURLIN_ALL_REDUCE, 4, 1u << 20);
  query.switch_refusal.clear();
  CHECK(must_choose(policy, query).path.value == PURLIN_PATH_THROUGHPUT);
  query.bytes += 1;
  CHECK(must_choose(policy, query).path.value == PURLIN_PATH_SWITCH);
  CHECK(must_choose(policy, query).path.origin.text() == "p.yaml:2:70");
}

TEST_CASE("between a forced path and the reduction the later source wins") {
  Policy policy = must_read("reduction: nvls\n");
  Query query = query_of(PURLIN_ALL_REDUCE, 4, 1u << 20);
  query.switch_refusal.clear();
  query.path = PURLIN_PATH_THROUGHPUT;
  CHECK(must_choose(policy, query).path.value == PURLIN_PATH_THROUGHPUT);
  query.reduction = PURLIN_REDUCTION_NVLS;  // of one source, the reduction
  CHECK(must_choose(policy, query).path.value == PURLIN_PATH_SWITCH);
  query.path = PURLIN_PATH_SWITCH;
  query.reduction = PURLIN_REDUCTION_SCORE;
  CHECK(holds(choose(policy, query).status().message(), "contradicts"));
  query.reduction = PURLIN_REDUCTION_POLICY;
  CHECK(must_choose(must_read("reduction: score\n"), query).reduction.value ==
        PURLIN_REDUCTION_NVLS);
  query.path = PURLIN_PATH_LATENCY;
  query.bytes = 8;
  CHECK(holds(choose(must_read("reduction: nvls-required\n"), query).status().message(),
              "contradicts reduction nvls-required (p.yaml:2:12)"));
}

TEST_CASE("a call's own budget beats the policy's") {
  const Policy policy = must_read("cta_budget: 8\n");
  Query query = query_of(PURLIN_ALL_REDUCE, 2, 8);
  CHECK(must_choose(policy, query).cta_budget.value == 8);
  query.cta_budget = 3;
  CHECK(must_choose(policy, query).cta_budget.value == 3);
  CHECK(must_choose(policy, query).cta_budget.origin.source == Source::kApi);
  query.cta_budget = kMaxCtas;
  CHECK(must_choose(policy, query).cta_budget.value == 512);
  for (const uint32_t many : {513u, 5120u, 1u << 31, ~0u}) {
    query.cta_budget = many;
    const auto refused = choose(policy, query);
    REQUIRE_FALSE(refused.is_ok());
    CHECK(refused.status().code() == PURLIN_INVALID_ARGUMENT);
    CHECK(holds(refused.status().message(), "is above 512"));
  }
}

bool same(const Choice& a, const Choice& b) {
  return a.path.value == b.path.value && a.reduction.value == b.reduction.value &&
         a.one_shot.value == b.one_shot.value && a.direction.value == b.direction.value &&
         a.chunk.value == b.chunk.value && a.reduce_ctas.value == b.reduce_ctas.value &&
         a.path.origin == b.path.origin && a.chunk.origin == b.chunk.origin;
}

TEST_CASE("the table of choices says what choose says, at every boundary and between") {
  const char* bodies[] = {
      "",
      "crossover: 8KiB\none_shot_limit: {rows: [{ranks: 2..4, value: 2KiB}]}\n",
      "tuning: {rows: [{bytes: ..3000, chunk: 2KiB}, {bytes: 3000..70000, chunk: 4KiB, direction: "
      "push}, {bytes: 70000..1MiB, path: throughput}]}\n"
      "reduction: {rows: [{collectives: [all_reduce], bytes: 5000.., value: nvls}]}\n",
      "staging: {latency_bytes: 4KiB}\ncrossover: {rows: []}\n",
  };
  uint64_t state = test::seed() | 1, cases = 0;
  for (const char* body : bodies) {
    const Policy policy = must_read(body);
    for (const int n : {1, 2, 3, 8, 64}) {
      const ChoiceTable table(policy, n, std::vector<std::string>(PURLIN_COLLECTIVE_COUNT));
      for (unsigned c = 0; c < PURLIN_COLLECTIVE_COUNT; ++c) {
        const auto collective = static_cast<purlin_collective>(c);
        std::vector<uint64_t> sizes = {0, 1, ~0ull};
        for (const auto& entry : table.entries(collective))
          for (const uint64_t size : {entry.up_to - 1, entry.up_to, entry.up_to + 1})
            sizes.push_back(size);
        for (int i = 0; i < 20; ++i) {
          state = state * 6364136223846793005ull + 1442695040888963407ull;
          sizes.push_back(state >> (20 + state % 44));
        }
        for (const uint64_t size : sizes) {
          Query query = query_of(collective, n, size);
          query.switch_refusal.clear();
          INFO(std::string(body), word(collective), " n=", n, " size=", size);
          const auto& from_table = table.at(collective, size);
          CHECK(same(*from_table, must_choose(policy, query)));
          ++cases;
        }
      }
    }
  }
  test::count_cases(cases);
}

}  // namespace
}  // namespace purlin::policy
