// The collectives by the switch, through the public API against the serial reference: bit for bit where
// the order of additions cannot matter.
#include <doctest/doctest.h>

#include <random>
#include <set>

#include "level.h"
#include "reference/element.h"
#include "runtime/communicator/ranks.h"
#include "runtime/communicator/sweep_case.h"
#include "test_switch.h"

using namespace purlin::test;
namespace reference = purlin::reference;

namespace {

constexpr const char* kEverything = "{default: nvls-required, rows: [{collectives: [all_gather], value: nvls-required}]}";

std::vector<Bytes> whole_inputs(const Case& c) {
  const auto n = static_cast<uint64_t>(c.n);
  const uint64_t count = c.count * (c.collective == PURLIN_REDUCE_SCATTER ? n : 1);
  std::vector<Bytes> in;
  for (uint64_t r = 0; r < n; ++r)
    in.push_back(whole_elements(static_cast<purlin_dtype>(c.dtype), count, c.seed + r));
  return in;
}

// Runs `c` and says whether its data went by the switch.
bool run_case(const Ranks& ranks, Case c, std::mt19937_64& random) {
  c.seed = random();
  const std::vector<Bytes> in = whole_inputs(c);
  const SwitchUse before = switch_use();
  std::vector<std::string> said(static_cast<size_t>(c.n));
  ranks.each([&](int r) { said[static_cast<size_t>(r)] = run_rank(c, r, in, ranks.comm(r)); });
  for (int r = 0; r < c.n; ++r)
    REQUIRE_MESSAGE(said[static_cast<size_t>(r)] == "",
                    "rank " << r << " in " << describe(c) << ": " << said[static_cast<size_t>(r)]);
  count_cases(1);
  return !(switch_use() == before);
}

constexpr int kDtypes[] = {PURLIN_I32, PURLIN_U32, PURLIN_I64,  PURLIN_U64,    PURLIN_F16,
                           PURLIN_F32, PURLIN_F64, PURLIN_BF16, PURLIN_F8E4M3, PURLIN_F8E5M2};

}  // namespace

TEST_CASE("switched collectives of any ranks, dtype, op, count, offset and form are exact") {
  const NoOffSwitches none;
  std::mt19937_64 random(seed() * 31 + 5);
  seed_switch(seed());
  const uint64_t offsets[] = {0, 0, 1, 4, 8, 12};
  for (int n : {2, 3, 4, 5, 7, 8, 16}) {
    const Ranks ranks(n, switch_policy(kEverything));
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    const auto un = static_cast<uint64_t>(n);
    const uint64_t counts[] = {0,    1,    un - 1,     un,          un + 1, 15,  16,
                               17,   127,  128,        129,         255,    256, 257,
                               1023, 1025, 4 * un + 1, 16 * un - 1, 9001};
    for (int collective : {PURLIN_ALL_REDUCE, PURLIN_REDUCE_SCATTER, PURLIN_ALL_GATHER}) {
      for (int dtype : kDtypes) {
        for (int op : {PURLIN_SUM, PURLIN_MIN, PURLIN_MAX}) {
          const bool adds_only = dtype == PURLIN_F32 || dtype == PURLIN_F64;
          if (op != PURLIN_SUM && (adds_only || collective == PURLIN_ALL_GATHER)) continue;
          const auto run = [&](uint64_t count, uint64_t offset, bool in_place) {
            const Case c{collective, n, dtype, op, PURLIN_PATH_AUTO, count, offset, in_place, 0, 0};
            CHECK(run_case(ranks, c, random) == (count != 0));
          };
          if (is_full()) {
            for (uint64_t count : counts)
              for (uint64_t offset : offsets)
                for (bool in_place : {false, true}) run(count, offset, in_place);
          } else {
            for (int i = 0; i < (is_sample() ? 1 : 3); ++i)
              run(counts[random() % std::size(counts)], offsets[random() % std::size(offsets)],
                  random() % 2 == 0);
          }
        }
      }
    }
  }
}

TEST_CASE("switched and other collectives take turns on one communicator and stay apart") {
  const NoOffSwitches none;
  std::mt19937_64 random(seed() * 31 + 6);
  const int n = 4;
  const Ranks ranks(n, switch_policy("{rows: [{collectives: [all_reduce], bytes: 4KiB.., value: nvls}, "
                                     "{collectives: [reduce_scatter], value: nvls}]}"));
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  const int collectives[] = {PURLIN_ALL_REDUCE, PURLIN_REDUCE_SCATTER, PURLIN_ALL_GATHER,
                             PURLIN_ALL_TO_ALL, PURLIN_BROADCAST};
  std::set<bool> seen;
  for (int i = 0; i < 300; ++i) {
    const int collective = collectives[random() % std::size(collectives)];
    const uint64_t count = random() % 3000;
    Case c{collective, n, PURLIN_I32, PURLIN_SUM, PURLIN_PATH_AUTO, count, 0, false, 0, random()};
    if (collective == PURLIN_ALL_TO_ALL) c.dtype = PURLIN_U8;
    std::vector<Bytes> in = inputs_of(c);
    const SwitchUse before = switch_use();
    std::vector<std::string> said(n);
    ranks.each([&](int r) { said[static_cast<size_t>(r)] = run_rank(c, r, in, ranks.comm(r)); });
    for (const std::string& one : said) REQUIRE_MESSAGE(one == "", describe(c) << ": " << one);
    const bool wants = collective == PURLIN_REDUCE_SCATTER
                           ? count != 0
                           : collective == PURLIN_ALL_REDUCE && count * 4 > 4096;
    CHECK(wants == !(switch_use() == before));
    seen.insert(wants);
  }
  CHECK(seen.size() == 2);
}

// What the switch does not promise: this case documents it, and would fail if the stand-in were tamer
// than a switch.
TEST_CASE("sums of arbitrary floats differ from call to call by the switch, and never by SCORE") {
  const NoOffSwitches none;
  const int n = 8;
  const uint64_t count = 20000;
  const Ranks ranks(n, switch_policy("nvls-required"));
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  std::mt19937_64 random(seed() * 31 + 7);
  std::normal_distribution<float> normal;
  std::vector<std::vector<float>> in(n, std::vector<float>(count));
  for (auto& one : in)
    for (float& value : one) value = normal(random);
  // Outcomes of six calls; within each, all ranks hold the same bits.
  const auto outcomes = [&](purlin_reduction reduction) {
    std::set<std::vector<float>> all;
    for (int i = 0; i < 6; ++i) {
      std::vector<std::vector<float>> out(n, std::vector<float>(count));
      ranks.each([&](int r) {
        purlin_call call{};
        call.struct_size = sizeof call;
        call.collective = PURLIN_ALL_REDUCE;
        call.dtype = PURLIN_F32;
        call.send = in[static_cast<size_t>(r)].data();
        call.recv = out[static_cast<size_t>(r)].data();
        call.count = count;
        call.reduction = reduction;
        if (purlin_run(&call, ranks.comm(r), nullptr) != PURLIN_OK) out[static_cast<size_t>(r)].clear();
      });
      for (int r = 1; r < n; ++r) CHECK(out[static_cast<size_t>(r)] == out[0]);
      CHECK(out[0].size() == count);
      all.insert(out[0]);
    }
    return all.size();
  };
  CHECK(outcomes(PURLIN_REDUCTION_SCORE) == 1);
  const size_t different = outcomes(PURLIN_REDUCTION_POLICY);
  CHECK(different > 1);
  MESSAGE("NVLS is not deterministic: 6 equal calls had " << different << " different results");
}
