// A GPU rank's kernel by itself, its peers' part written beforehand.
#include <doctest/doctest.h>

#include <random>

#include "gpu_ranks.h"
#include "level.h"

using namespace purlin::test;

namespace {

std::string policy_for(const std::string& atom, const std::string& direction) {
  return "version: 1\ndatapath: {prefer: [" + atom +
         "]}\nstaging: {latency_bytes: 1MiB, throughput_bytes: 8MiB}\n"
         "tuning: {default: {chunk: 8KiB, ctas: {stage: 3, reduce: 4, gather: 3}, direction: " +
         direction + "}}\nprograms: [{kind: copy}, {kind: reduce, dtypes: [f32]}]\n";
}

}  // namespace

TEST_CASE("a GPU rank alone gives the result that it gives among its peers, again and again") {
  std::mt19937_64 random(seed() * 31 + 9);
  for (const char* atom : {"generic", "hopper"}) {
    for (const char* direction : {"pull", "push"}) {
      for (int n : {2, 5}) {
        const auto ranks = GpuRanks::make(n, policy_for(atom, direction));
        if (!ranks) return;
        for (int collective :
             {PURLIN_ALL_GATHER, PURLIN_REDUCE_SCATTER, PURLIN_ALL_REDUCE, PURLIN_ALL_TO_ALL,
              PURLIN_BROADCAST, PURLIN_REDUCE, PURLIN_SCATTER, PURLIN_GATHER}) {
          for (int path : {PURLIN_PATH_LATENCY, PURLIN_PATH_THROUGHPUT}) {
            const int rank = static_cast<int>(random() % static_cast<uint64_t>(n));
            const uint64_t count = random() % (path == PURLIN_PATH_LATENCY ? 4'000 : 100'000);
            const Case c{collective,
                         n,
                         PURLIN_F32,
                         PURLIN_SUM,
                         path,
                         count,
                         random() % 2 * 4,
                         random() % 2 == 0,
                         static_cast<int>(random() % static_cast<uint64_t>(n)),
                         random()};
            const std::string wrong =
                run_alone(c, rank, inputs_of(c), [&](const std::vector<purlin_call>& everyone) {
                  return ranks->carrier(rank, 0, [&](const purlin_call& call) {
                    const purlin_status first = purlin_run_alone(
                        &call, everyone.data(), ranks->comm(rank), ranks->stream(rank));
                    // In place, a second call would find what the first left.
                    if (first != PURLIN_OK || c.in_place) return first;
                    return purlin_run_alone(&call, nullptr, ranks->comm(rank), ranks->stream(rank));
                  });
                });
            REQUIRE_MESSAGE(wrong == "", "rank " << rank << " in " << describe(c) << ", " << atom
                                                 << ", " << direction << ": " << wrong);
            count_cases(1);
          }
        }
      }
    }
  }
}
