// Three transformations of one's own, on four ranks that are threads, and one that cannot be.
//   custom            runs them and says what rank 2 received
//   custom explain    prints what each is carried out as, as JSON
#include <cstdio>
#include <string_view>
#include <thread>
#include <vector>

#include "purlin/purlin.hpp"

namespace {

constexpr int kRanks = 4;
constexpr purlin_rank_set kAll = {PURLIN_RANKS_ALL, 0, 0};
constexpr purlin_layout kPacked = {PURLIN_LAYOUT_PACKED, 0, 0, 0, 1};
constexpr purlin_layout kScattered = {PURLIN_LAYOUT_SCATTERED, 0, 0, 0, 1};
constexpr purlin_layout kTransposed = {PURLIN_LAYOUT_TRANSPOSED, 0, 0, 0, 1};

purlin_transformation one_step(const char* name, purlin_step step) {
  return {sizeof(purlin_transformation), name, 1, 0, {step, {}}};
}

// Every rank brings a matrix of 4 x 4 blocks. Row r of the sum is made at rank r, which sends its
// block p to rank p: rank p ends with column p of the sum.
purlin_transformation transposed_sum() {
  return {sizeof(purlin_transformation),
          "transposed_sum",
          2,
          0,
          {{kScattered, kPacked, 1, 0, kAll, kAll}, {kScattered, kTransposed, 0, 0, kAll, kAll}}};
}

// Ranks 1 and 3 alone give; all receive both, one after the other.
purlin_transformation gather_odd() {
  const purlin_rank_set odd = {PURLIN_RANKS_MASK, 0, 0b1010};
  const purlin_layout both = {PURLIN_LAYOUT_SCATTERED, 0, 0b1010, 0, 1};
  return one_step("gather_odd", {kPacked, both, 0, 0, odd, kAll});
}

// Region 0 goes to the rank above and region 1 to the rank below; what comes from the rank above
// lands in region 0, what comes from the rank below in region 1. Members are distances: 1 and n
// - 1.
purlin_transformation neighbours() {
  const purlin_layout beside = {PURLIN_LAYOUT_TRANSPOSED, 1, 1u << 1 | 1u << (kRanks - 1), 0, 1};
  return one_step("neighbours", {beside, beside, 0, 0, kAll, kAll});
}

// All four copied into one region: they would overwrite each other.
purlin_transformation impossible() {
  return one_step("impossible", {kPacked, kPacked, 0, 0, kAll, kAll});
}

// Runs `t` with `in` elements a rank, element i of rank r being 100 r + i; returns what rank 2 has.
std::vector<int> run(const std::vector<purlin::Communicator>& comms, const purlin_transformation& t,
                     size_t in, size_t out, size_t region) {
  std::vector<std::vector<int>> results(comms.size(), std::vector<int>(out));
  std::vector<purlin::Outcome> outcomes(comms.size());
  {
    std::vector<std::jthread> ranks;  // joined at the end of this block
    for (size_t r = 0; r < comms.size(); ++r) {
      ranks.emplace_back([&, r] {
        std::vector<int> mine(in);
        for (size_t i = 0; i < in; ++i) mine[i] = static_cast<int>(100 * r + i);
        purlin_call call{};
        call.struct_size = sizeof call;
        call.collective = PURLIN_CUSTOM;
        call.transformation = &t;
        call.dtype = PURLIN_I32;
        call.op = PURLIN_SUM;
        call.count = region;
        call.send = mine.data();
        call.recv = results[r].data();
        outcomes[r] = comms[r].try_run(call);
      });
    }
  }
  for (const purlin::Outcome& outcome : outcomes) outcome.or_throw();
  return results[2];
}

void say(const purlin_transformation& t, const std::vector<int>& values) {
  std::printf("%s:", t.name);
  for (int value : values) std::printf(" %d", value);
  std::printf("\n");
}

void explain(const purlin_transformation& t) {
  purlin_query query{};
  query.struct_size = sizeof query;
  query.device = "host";
  query.collective = PURLIN_CUSTOM;
  query.transformation = &t;
  query.dtype = PURLIN_I32;
  query.nranks = kRanks;
  query.bytes = 1 << 20;
  char* json = nullptr;
  purlin::Outcome::of(purlin_explain(&query, &json)).or_throw();
  std::printf("%s: %s\n", t.name, json);
  purlin_free_text(json);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1 && std::string_view(argv[1]) == "explain") {
      for (const auto& t : {transposed_sum(), gather_odd(), neighbours()}) explain(t);
      return 0;
    }
    const auto comms = purlin::Communicator::create_all(kRanks);
    // Blocks of one element; with two steps `count` is what a rank holds between them, four blocks.
    say(transposed_sum(), run(comms, transposed_sum(), 16, 4, 4));
    say(gather_odd(), run(comms, gather_odd(), 2, 4, 2));
    say(neighbours(), run(comms, neighbours(), 2, 2, 1));
    try {
      run(comms, impossible(), 1, 1, 1);
      return 1;
    } catch (const purlin::Error& error) {
      std::printf("%s\n", error.what());
    }
  } catch (const purlin::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
