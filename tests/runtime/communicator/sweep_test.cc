// The collectives through the public API against the serial reference, bit for bit on every rank.
#include <doctest/doctest.h>

#include <chrono>
#include <random>
#include <string>

#include "level.h"
#include "ranks.h"
#include "reference/element.h"
#include "sweep_case.h"

using namespace purlin::test;
namespace reference = purlin::reference;

namespace {

void run_case(const Ranks& ranks, Case c, std::mt19937_64& random) {
  c.root = static_cast<int>(random() % static_cast<uint64_t>(c.n));
  c.seed = random();
  const std::vector<Bytes> in = inputs_of(c);
  std::vector<std::string> said(static_cast<size_t>(c.n));
  ranks.each([&](int r) { said[static_cast<size_t>(r)] = run_rank(c, r, in, ranks.comm(r)); });
  for (int r = 0; r < c.n; ++r)
    REQUIRE_MESSAGE(said[static_cast<size_t>(r)] == "",
                    "rank " << r << " in " << describe(c) << ": " << said[static_cast<size_t>(r)]);
  count_cases(1);
}

}  // namespace

TEST_CASE("every pair of collective, ranks, dtype, op, path, count, offset and form is exact") {
  std::mt19937_64 random(seed() * 31 + 1);
  const int collectives[] = {PURLIN_ALL_GATHER, PURLIN_REDUCE_SCATTER, PURLIN_ALL_REDUCE,
                             PURLIN_ALL_TO_ALL, PURLIN_BROADCAST,      PURLIN_REDUCE,
                             PURLIN_SCATTER,    PURLIN_GATHER};
  const uint64_t offsets[] = {0, 0, 1, 4, 8, 12};
  for (int n : {1, 2, 3, 4, 5, 6, 7, 8, 16}) {
    const Ranks ranks(n, kSmallStaging);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    const auto un = static_cast<uint64_t>(n);
    const uint64_t counts[] = {0,    1,    un - 1,     un,          un + 1, 15,  16,
                               17,   127,  128,        129,         255,    256, 257,
                               1023, 1025, 4 * un + 1, 16 * un - 1, 9001};
    for (int collective : collectives) {
      for (int dtype = 0; dtype < PURLIN_DTYPE_COUNT; ++dtype) {
        const int ops = reduces(collective) ? PURLIN_PREMUL_SUM : 1;
        for (int op = 0; op < ops; ++op) {
          for (int path : {PURLIN_PATH_AUTO, PURLIN_PATH_THROUGHPUT, PURLIN_PATH_LATENCY}) {
            const uint64_t es = reference::element_bytes(static_cast<purlin_dtype>(dtype));
            if (!is_tried(random, 4)) continue;
            const auto run = [&](uint64_t count, uint64_t offset, bool in_place) {
              // Packets must hold a forced latency call; 16 ranks' share of 64 KiB is the least.
              if (path == PURLIN_PATH_LATENCY) count = std::min(count, most_forced_packets(es));
              run_case(ranks, Case{collective, n, dtype, op, path, count, offset, in_place, 0, 0},
                       random);
            };
            if (is_full()) {
              for (uint64_t count : counts)
                for (uint64_t offset : offsets)
                  for (bool in_place : {false, true}) run(count, offset, in_place);
            } else {
              run(counts[random() % std::size(counts)], offsets[random() % std::size(offsets)],
                  random() % 2 == 0);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("sizes one element around every threshold of the policy and the wire are exact") {
  std::mt19937_64 random(seed() * 31 + 2);
  for (int n : {2, 3, 8}) {
    const Ranks ranks(n, kSmallStaging);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    const auto un = static_cast<uint64_t>(n);
    // Crossover and chunk; a half of staging, its streams' slots, its packets for each source.
    const uint64_t half = 64 * 1024;
    const uint64_t bytes[] = {1024,          1024 * un,     half,      half / un, half / (un + 1),
                              half / un / 2, half / un / 4, half * un, 2 * half};
    for (int collective :
         {PURLIN_ALL_GATHER, PURLIN_REDUCE_SCATTER, PURLIN_ALL_REDUCE, PURLIN_ALL_TO_ALL}) {
      for (int dtype : {PURLIN_I8, PURLIN_BF16, PURLIN_F32}) {
        const uint64_t es = reference::element_bytes(static_cast<purlin_dtype>(dtype));
        for (uint64_t threshold : bytes) {
          for (uint64_t step : {uint64_t{0}, uint64_t{1}, uint64_t{2}}) {
            const uint64_t total = threshold / es + step - 1;
            const uint64_t count =
                collective == PURLIN_ALL_REDUCE ? total : total / un + (step == 2);
            if (!is_full() && random() % 3 != 0) continue;
            if (!is_tried(random, 4)) continue;
            run_case(
                ranks,
                Case{collective, n, dtype, PURLIN_SUM, PURLIN_PATH_AUTO, count, 0, false, 0, 0},
                random);
          }
        }
      }
    }
  }
}

TEST_CASE("a thousand calls of changing sizes and values, one rank late, stay apart") {
  const int n = 4;
  const Ranks ranks(n, kSmallStaging);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  const uint64_t sizes[] = {1, 4000, 17, 300, 9000, 2};
  std::vector<int> wrong(n);
  ranks.each([&](int r) {
    for (uint32_t i = 0; i < 1000; ++i) {
      const uint64_t count = sizes[i % std::size(sizes)];
      std::vector<uint32_t> in(count, i * 8 + static_cast<uint32_t>(r)), out(count, ~0u);
      if (r == static_cast<int>(i % n) && i % 50 == 0) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(500);
        while (std::chrono::steady_clock::now() < until) {
        }
      }
      const purlin_status status = purlin_all_reduce(in.data(), out.data(), count, PURLIN_U32,
                                                     PURLIN_SUM, ranks.comm(r), nullptr);
      for (uint32_t v : out) wrong[static_cast<size_t>(r)] += v != i * 32 + 6;
      wrong[static_cast<size_t>(r)] += status != PURLIN_OK;
    }
  });
  for (int r = 0; r < n; ++r) CHECK(wrong[static_cast<size_t>(r)] == 0);
}
