// Several communicators at once, and several threads on one.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "level.h"
#include "ranks.h"

using namespace purlin::test;

namespace {

const char* const kSmall =
    "version: 1\nstaging: {latency_bytes: 64KiB, throughput_bytes: 64KiB}\ncrossover: 1KiB\n";

// Sum of a value that tells communicator and round apart; 0 when it is right on this rank.
int round_of(purlin_comm_t comm, int n, uint32_t which, uint32_t round, uint64_t count) {
  std::vector<uint32_t> in(count, which * 1000 + round), out(count, ~0u);
  if (purlin_all_reduce(in.data(), out.data(), count, PURLIN_U32, PURLIN_SUM, comm, nullptr) !=
      PURLIN_OK)
    return 1;
  for (uint32_t v : out)
    if (v != (which * 1000 + round) * static_cast<uint32_t>(n)) return 1;
  return 0;
}

}  // namespace

TEST_CASE("communicators over the same and over parts of the ranks, a thread for each") {
  const int n = 4;
  const uint32_t rounds = is_full() ? 500 : 40;
  for (const size_t extra : {size_t{1}, size_t{3}, size_t{16}}) {
    const Ranks whole(n, kSmall);
    REQUIRE_MESSAGE(whole.creation_error().empty(), whole.creation_error());
    std::vector<std::unique_ptr<Ranks>> others;
    for (size_t i = 0; i < extra; ++i) {
      others.push_back(std::make_unique<Ranks>(i % 2 == 0 ? 2 : n, kSmall));
      REQUIRE_MESSAGE(others.back()->creation_error().empty(), others.back()->creation_error());
    }
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    const auto work = [&](const Ranks& ranks, int r, uint32_t which) {
      for (uint32_t i = 0; i < rounds; ++i)
        wrong += round_of(ranks.comm(r), ranks.size(), which, i, i % 3 == 0 ? 5000 : 10);
    };
    for (int r = 0; r < n; ++r) threads.emplace_back([&, r] { work(whole, r, 0); });
    for (size_t i = 0; i < extra; ++i)
      for (int r = 0; r < others[i]->size(); ++r)
        threads.emplace_back([&, i, r] { work(*others[i], r, static_cast<uint32_t>(i) + 1); });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    count_cases(extra + 1);
  }
}

TEST_CASE("several threads on one communicator: every call whole, in the order of the calls") {
  // All calls alike but for the value, which all ranks take from the order in which calls are made:
  // whichever thread comes first on a rank brings that rank's next number.
  for (const int n : {2, 4}) {
    const Ranks ranks(n, kSmall);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    const uint32_t calls = is_full() ? 1000 : 100;
    std::atomic<int> wrong{0};
    std::vector<std::mutex> order(static_cast<size_t>(n));
    std::vector<uint32_t> next(static_cast<size_t>(n));
    std::vector<std::thread> threads;
    for (int r = 0; r < n; ++r)
      for (int t = 0; t < 3; ++t)
        threads.emplace_back([&, r] {
          const auto u = static_cast<size_t>(r);
          for (uint32_t i = 0; i < calls; ++i) {
            const std::lock_guard lock(order[u]);
            wrong += round_of(ranks.comm(r), n, 0, next[u]++, 3000);
          }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
  }
}

TEST_CASE("threads that do not agree on an order never mix two calls") {
  // Equal calls of 64 KiB: each result must be a sum of whole calls, the same throughout.
  const int n = 3;
  const Ranks ranks(n, kSmall);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int r = 0; r < n; ++r)
    for (uint32_t t = 1; t <= 2; ++t)
      threads.emplace_back([&, r, t] {
        const uint64_t count = 16 * 1024;
        for (int i = 0; i < 50; ++i) {
          std::vector<uint32_t> in(count, t), out(count, 0);
          wrong += purlin_all_reduce(in.data(), out.data(), count, PURLIN_U32, PURLIN_SUM,
                                     ranks.comm(r), nullptr) != PURLIN_OK;
          for (uint32_t v : out) wrong += v != out[0] || v < 3 || v > 6;
        }
      });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE(
    "two communicators used in opposite order by one thread each end in an error that says who "
    "waits") {
  std::vector<purlin_comm_t> a(2), b(2);
  purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
  options.policy_text = "version: 1\ntimeouts: {wait: 300ms}\n";  // creation may take longer
  options.name = "first";
  REQUIRE(purlin_comm_create_all(a.data(), 2, nullptr, &options) == PURLIN_OK);
  options.name = "second";
  REQUIRE(purlin_comm_create_all(b.data(), 2, nullptr, &options) == PURLIN_OK);
  std::vector<std::string> text(2);
  std::vector<std::thread> threads;
  for (size_t r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      float in = 1, out = 0;
      const purlin_comm_t mine = r == 0 ? a[0] : b[1];
      CHECK(purlin_all_reduce(&in, &out, 1, PURLIN_F32, PURLIN_SUM, mine, nullptr) ==
            PURLIN_TIMEOUT);
      text[r] = purlin_last_error();
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(text[0].find("first") != std::string::npos);
  CHECK(text[1].find("second") != std::string::npos);
  CHECK(text[0].find("rank 1") != std::string::npos);
  CHECK(text[1].find("rank 0") != std::string::npos);
  for (purlin_comm_t comm : {a[0], a[1], b[0], b[1]}) purlin_comm_destroy(comm);
}
