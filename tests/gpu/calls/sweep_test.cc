// The collectives on GPUs against the serial reference, whose bits are those of host ranks too.
#include <doctest/doctest.h>

#include <random>

#include "gpu_ranks.h"
#include "level.h"
#include "reference/element.h"

using namespace purlin::test;
namespace reference = purlin::reference;

namespace {

// Every call has a program of its own: universal ones have tests of theirs.
std::string policy_for(const std::string& atom, const std::string& direction = "pull") {
  return "version: 1\ndatapath: {prefer: [" + atom +
         "]}\nstaging: {latency_bytes: 256KiB, throughput_bytes: 256KiB}\ncrossover: 4KiB\n"
         "tuning: {default: {chunk: 4KiB, ctas: {stage: 3, reduce: 4, gather: 3}}, rows: [{direction: " +
         direction +
         "}]}\nprograms: [{kind: copy}, {kind: reduce, dtypes: [bf16, f16, f32]}]\n";
}

void run_case(const GpuRanks& ranks, Case c, std::mt19937_64& random, int replays = 0) {
  c.n = ranks.size();
  c.root = static_cast<int>(random() % static_cast<uint64_t>(c.n));
  c.seed = random();
  const std::vector<Bytes> in = inputs_of(c);
  std::vector<std::string> said(static_cast<size_t>(c.n));
  ranks.each([&](int r) {
    said[static_cast<size_t>(r)] = run_rank(c, r, in, ranks.carrier(r, replays));
  });
  for (int r = 0; r < c.n; ++r)
    REQUIRE_MESSAGE(said[static_cast<size_t>(r)] == "",
                    "rank " << r << " in " << describe(c) << ": " << said[static_cast<size_t>(r)]);
  count_cases(1);
}

constexpr int kCollectives[] = {PURLIN_ALL_GATHER, PURLIN_REDUCE_SCATTER, PURLIN_ALL_REDUCE,
                                PURLIN_ALL_TO_ALL, PURLIN_BROADCAST,      PURLIN_REDUCE,
                                PURLIN_SCATTER,    PURLIN_GATHER};
constexpr uint64_t kCounts[] = {0, 1, 2, 3, 7, 15, 16, 17, 129, 255, 1023, 1025, 4097, 70'001};
constexpr uint64_t kOffsets[] = {0, 0, 1, 4, 8, 12};

// Copies of every collective on both paths, and sums of three types.
void sweep(const GpuRanks& ranks, std::mt19937_64& random, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (int collective : kCollectives) {
      for (int path : {PURLIN_PATH_AUTO, PURLIN_PATH_THROUGHPUT, PURLIN_PATH_LATENCY}) {
        constexpr int kTypes[] = {PURLIN_F32, PURLIN_BF16, PURLIN_F16};
        const int dtype = kTypes[random() % 3];
        uint64_t count = kCounts[random() % std::size(kCounts)];
        if (path == PURLIN_PATH_LATENCY) count = std::min<uint64_t>(count, 256);
        run_case(ranks,
                 Case{collective, 0, dtype, PURLIN_SUM, path, count,
                      kOffsets[random() % std::size(kOffsets)], random() % 2 == 0, 0, 0},
                 random, random() % 4 == 0 ? 1 : 0);
      }
    }
  }
}

}  // namespace

TEST_CASE("every collective is exact on every Atom, with 1, 2, 3, 5 and 8 ranks on one GPU") {
  std::mt19937_64 random(seed() * 31 + 1);
  for (const char* atom : {"generic", "ampere", "hopper"}) {
    for (int n : {1, 2, 3, 5, 8}) {
      for (const char* direction : {"pull", "push"}) {
        const auto ranks = GpuRanks::make(n, policy_for(atom, direction));
        if (!ranks) return;
        sweep(*ranks, random, is_full() ? 20 : 2);
      }
    }
  }
}

TEST_CASE("every dtype and operation is exact on both paths") {
  std::mt19937_64 random(seed() * 31 + 2);
  for (const char* atom : {"generic", "hopper"}) {
    if (!is_full() && std::string(atom) == "generic") continue;
    const auto ranks = GpuRanks::make(3, policy_for(atom));
    if (!ranks) return;
    for (int dtype = 0; dtype < PURLIN_DTYPE_COUNT; ++dtype) {
      for (int op = 0; op < PURLIN_PREMUL_SUM; ++op) {
        for (int path : {PURLIN_PATH_THROUGHPUT, PURLIN_PATH_LATENCY})
          run_case(*ranks,
                   Case{random() % 2 == 0 ? PURLIN_ALL_REDUCE : PURLIN_REDUCE_SCATTER, 0, dtype, op,
                        path, 1 + random() % 250, kOffsets[random() % std::size(kOffsets)],
                        random() % 2 == 0, 0, 0},
                   random);
      }
    }
  }
}

TEST_CASE("one rank a GPU is exact") {
  std::mt19937_64 random(seed() * 31 + 3);
  const auto ranks = GpuRanks::make(2, policy_for("hopper"), true);
  if (ranks) sweep(*ranks, random, 4);
}
