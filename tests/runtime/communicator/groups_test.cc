// Groups through the public API: what is fused gives what the calls by themselves give.
#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <string>

#include "level.h"
#include "ranks.h"

using namespace purlin::test;

namespace {

using Words = std::vector<int32_t>;

int32_t value(int rank, int root, uint64_t i) {
  return static_cast<int32_t>(static_cast<uint64_t>(rank) * 1000 +
                              static_cast<uint64_t>(root) * 77 + i % 251);
}

std::string last() { return purlin_last_error(); }

// Each root's count; the last one is beyond the crossover now and then.
std::vector<uint64_t> random_counts(int n, std::mt19937_64& random) {
  std::vector<uint64_t> counts;
  for (int r = 0; r < n; ++r)
    counts.push_back(random() % 3 == 0 ? 0 : random() % (r == n - 1 ? 9000 : 60));
  return counts;
}

}  // namespace

TEST_CASE("n broadcasts and n reduces of one group give what they give by themselves") {
  std::mt19937_64 random(seed() * 31 + 8);
  for (int n : {2, 3, 5, 8}) {
    const Ranks ranks(n);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    for (int round = 0; round < 12; ++round) {
      const auto counts = random_counts(n, random);
      const uint64_t first = random();
      std::vector<std::string> errors(static_cast<size_t>(n));
      ranks.each([&](int r) {
        std::string& error = errors[static_cast<size_t>(r)];
        std::vector<Words> in(static_cast<size_t>(n)), all(static_cast<size_t>(n)),
            sums(static_cast<size_t>(n));
        purlin_group_start();
        for (int i = 0; i < n; ++i) {
          const int root =
              static_cast<int>((first + static_cast<uint64_t>(i)) % static_cast<uint64_t>(n));
          const auto u = static_cast<size_t>(root);
          for (uint64_t k = 0; k < counts[u]; ++k) in[u].push_back(value(r, root, k));
          all[u].assign(counts[u] + 1, -1);
          sums[u].assign(counts[u] + 1, -1);
          if (purlin_broadcast(in[u].data(), all[u].data(), counts[u], PURLIN_I32, root,
                               ranks.comm(r), nullptr) != PURLIN_OK)
            error = last();
        }
        for (int root = 0; root < n; ++root) {
          const auto u = static_cast<size_t>(root);
          if (purlin_reduce(in[u].data(), sums[u].data(), counts[u], PURLIN_I32, PURLIN_SUM, root,
                            ranks.comm(r), nullptr) != PURLIN_OK)
            error = last();
        }
        if (purlin_group_end() != PURLIN_OK) error = last();
        for (int root = 0; root < n; ++root) {
          const auto u = static_cast<size_t>(root);
          for (uint64_t k = 0; k <= counts[u]; ++k) {
            const bool inside = k < counts[u];
            int32_t sum = 0;
            for (int s = 0; s < n; ++s) sum += value(s, root, k);
            if (all[u][k] != (inside ? value(root, root, k) : -1)) error = "broadcast";
            if (sums[u][k] != (inside && r == root ? sum : -1)) error = "reduce";
          }
        }
      });
      for (int r = 0; r < n; ++r) {
        CAPTURE(n);
        CAPTURE(round);
        CAPTURE(r);
        REQUIRE(errors[static_cast<size_t>(r)] == "");
      }
      count_cases(1);
    }
  }
}

TEST_CASE("fused calls in place, averages included") {
  const int n = 4;
  const Ranks ranks(n);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  for (const uint64_t count : {uint64_t{3}, uint64_t{4001}}) {
    ranks.each([&](int r) {
      std::vector<Words> parts(n), sums(n);
      purlin_group_start();
      for (int root = 0; root < n; ++root) {
        Words& part = parts[static_cast<size_t>(root)];
        part.assign(count, r == root ? root + 50 : -1);
        CHECK(purlin_broadcast(part.data(), part.data(), count, PURLIN_I32, root, ranks.comm(r),
                               nullptr) == PURLIN_OK);
      }
      for (int root = 0; root < n; ++root) {
        Words& sum = sums[static_cast<size_t>(root)];
        sum.assign(count, r * 8 + root);
        CHECK(purlin_reduce(sum.data(), sum.data(), count, PURLIN_I32, PURLIN_AVG, root,
                            ranks.comm(r), nullptr) == PURLIN_OK);
      }
      CHECK(purlin_group_end() == PURLIN_OK);
      for (int root = 0; root < n; ++root) {
        CHECK((parts[static_cast<size_t>(root)] == Words(count, root + 50)));
        CHECK((sums[static_cast<size_t>(root)] ==
               Words(count, r == root ? 12 + root : r * 8 + root)));
      }
    });
  }
}

TEST_CASE("one thread that issues the messages of all ranks: an exchange, or anything else") {
  const int n = 3;
  const Ranks ranks(n);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  for (const bool complete : {true, false}) {
    std::vector<std::vector<Words>> in(n, std::vector<Words>(n)), out(n, std::vector<Words>(n));
    CHECK(purlin_group_start() == PURLIN_OK);
    for (int r = 0; r < n; ++r)
      for (int p = 0; p < n; ++p) {
        if (!complete && r == 1) continue;
        if (!complete && p == 1) continue;
        const auto ur = static_cast<size_t>(r), up = static_cast<size_t>(p);
        const auto size = [](int from, int to) {
          return static_cast<uint64_t>(from * 3000 + to * 5);
        };
        in[ur][up].assign(size(r, p) + 1, r * 10 + p);
        out[ur][up].assign(size(p, r) + 1, -1);
        CHECK(purlin_send(in[ur][up].data(), size(r, p), PURLIN_I32, p, ranks.comm(r), nullptr) ==
              PURLIN_OK);
        CHECK(purlin_recv(out[ur][up].data(), size(p, r), PURLIN_I32, p, ranks.comm(r), nullptr) ==
              PURLIN_OK);
      }
    REQUIRE_MESSAGE(purlin_group_end() == PURLIN_OK, last());
    for (int r = 0; r < n; ++r)
      for (int p = 0; p < n; ++p) {
        const Words& words = out[static_cast<size_t>(r)][static_cast<size_t>(p)];
        for (size_t i = 0; i < words.size(); ++i)
          REQUIRE(words[i] == (i + 1 == words.size() ? -1 : p * 10 + r));
      }
  }
}

TEST_CASE("a group of messages and collectives: the messages come first, on every rank") {
  const int n = 4;
  const Ranks ranks(n);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  ranks.each([&](int r) {
    const uint64_t large = 300'000;  // more than slots hold
    Words out(large, r), in(large, -1);
    int32_t one = r, sum = 0;
    CHECK(purlin_group_start() == PURLIN_OK);
    CHECK(purlin_all_reduce(&one, &sum, 1, PURLIN_I32, PURLIN_SUM, ranks.comm(r), nullptr) ==
          PURLIN_OK);
    if (r < 2) {
      CHECK(purlin_send(out.data(), large, PURLIN_I32, 1 - r, ranks.comm(r), nullptr) == PURLIN_OK);
      CHECK(purlin_recv(in.data(), large, PURLIN_I32, 1 - r, ranks.comm(r), nullptr) == PURLIN_OK);
    }
    CHECK(purlin_group_end() == PURLIN_OK);
    CHECK(sum == 6);
    if (r < 2) CHECK((in == Words(large, 1 - r)));
  });
}

TEST_CASE("a wrong call in a group: none is made, on the ranks where it is wrong") {
  const Ranks ranks(2);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  ranks.each([&](int r) {
    int32_t a = r, b = -1;
    CHECK(purlin_group_start() == PURLIN_OK);
    CHECK(purlin_group_start() == PURLIN_OK);
    CHECK(purlin_send(&a, 1, PURLIN_I32, 1 - r, ranks.comm(r), nullptr) == PURLIN_OK);
    CHECK(purlin_recv(&b, 1, PURLIN_I32, 5, ranks.comm(r), nullptr) == PURLIN_INVALID_ARGUMENT);
    CHECK(purlin_group_end() == PURLIN_OK);
    CHECK(purlin_group_end() == PURLIN_INVALID_ARGUMENT);
    CHECK(last().find("none was made") != std::string::npos);
    CHECK(purlin_group_end() == PURLIN_INVALID_USAGE);
    CHECK(purlin_all_reduce(&a, &b, 1, PURLIN_I32, PURLIN_SUM, ranks.comm(r), nullptr) ==
          PURLIN_OK);
    CHECK(b == 1);
  });
}
