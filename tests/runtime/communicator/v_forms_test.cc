// The V forms with counts and places of every kind, against what each element must be.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "level.h"
#include "ranks.h"

using namespace purlin::test;

namespace {

using Row = std::vector<uint64_t>;
using Matrix = std::vector<Row>;  // [sender][receiver]

constexpr int32_t kGap = -7;

enum class Placement { kNull, kPacked, kGapped, kReversed, kShuffled };

// Where parts lie, and the buffer's length in *extent.
Row places(const Row& counts, Placement placement, std::mt19937_64& random, uint64_t* extent) {
  std::vector<size_t> order(counts.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (placement == Placement::kReversed) std::reverse(order.begin(), order.end());
  if (placement == Placement::kShuffled) std::shuffle(order.begin(), order.end(), random);
  Row displs(counts.size());
  uint64_t at = 0;
  for (const size_t i : order) {
    if (placement != Placement::kPacked && placement != Placement::kNull) at += random() % 9;
    displs[i] = at;
    at += counts[i];
  }
  *extent = at;
  return displs;
}

int32_t element(uint64_t from, uint64_t to, uint64_t i) {
  return static_cast<int32_t>(from * 100'003 + to * 1009 + i % 997);
}

// A buffer of words between guards, with gaps of a known value.
struct Words {
  Guarded bytes;
  uint64_t count;
  explicit Words(uint64_t n) : bytes(n * 4, 0), count(n) { std::fill_n(data(), n, kGap); }
  int32_t* data() { return reinterpret_cast<int32_t*>(bytes.data()); }
};

const uint64_t* pointer(const Row& displs, Placement placement) {
  return placement == Placement::kNull ? nullptr : displs.data();
}

std::string all_to_all_v(purlin_comm_t comm, size_t r, const Matrix& counts, Placement placement,
                         uint64_t seed) {
  std::mt19937_64 random(seed);
  Row sent = counts[r], received;
  for (const Row& row : counts) received.push_back(row[r]);
  uint64_t in_extent = 0, out_extent = 0;
  const Row in_at = places(sent, placement, random, &in_extent);
  const Row out_at = places(received, placement, random, &out_extent);
  Words in(in_extent), out(out_extent), want(out_extent);
  for (size_t p = 0; p < sent.size(); ++p) {
    for (uint64_t i = 0; i < sent[p]; ++i) in.data()[in_at[p] + i] = element(r, p, i);
    for (uint64_t i = 0; i < received[p]; ++i) want.data()[out_at[p] + i] = element(p, r, i);
  }
  if (purlin_all_to_all_v(in.data(), sent.data(), pointer(in_at, placement), out.data(),
                          received.data(), pointer(out_at, placement), PURLIN_I32, comm,
                          nullptr) != PURLIN_OK)
    return purlin_last_error();
  if (!in.bytes.intact() || !out.bytes.intact()) return "a guard byte was touched";
  return std::equal(out.data(), out.data() + out_extent, want.data()) ? ""
                                                                      : "all_to_all_v: wrong words";
}

// The first row's counts, gathered and, in the same places, reduced.
std::string gather_and_reduce_v(purlin_comm_t comm, size_t r, const Row& counts,
                                Placement placement, uint64_t seed) {
  std::mt19937_64 random(seed);
  uint64_t extent = 0;
  const Row at = places(counts, placement, random, &extent);
  Words own(counts[r]), all(extent), want(extent), in(extent), sum(counts[r]);
  for (uint64_t i = 0; i < counts[r]; ++i) own.data()[i] = element(r, 0, i);
  for (size_t p = 0; p < counts.size(); ++p)
    for (uint64_t i = 0; i < counts[p]; ++i) {
      want.data()[at[p] + i] = element(p, 0, i);
      in.data()[at[p] + i] = element(r, p, i);
    }
  if (purlin_all_gather_v(own.data(), counts[r], all.data(), counts.data(), pointer(at, placement),
                          PURLIN_I32, comm, nullptr) != PURLIN_OK ||
      purlin_reduce_scatter_v(in.data(), counts.data(), pointer(at, placement), sum.data(),
                              PURLIN_I32, PURLIN_SUM, comm, nullptr) != PURLIN_OK)
    return purlin_last_error();
  if (!own.bytes.intact() || !all.bytes.intact() || !in.bytes.intact() || !sum.bytes.intact())
    return "a guard byte was touched";
  if (!std::equal(all.data(), all.data() + extent, want.data())) return "all_gather_v: wrong words";
  for (uint64_t i = 0; i < counts[r]; ++i) {
    int32_t total = 0;
    for (size_t s = 0; s < counts.size(); ++s) total += element(s, r, i);
    if (sum.data()[i] != total) return "reduce_scatter_v: wrong words";
  }
  return "";
}

// Families of counts; each is legal on every rank.
std::vector<Matrix> families(size_t n, std::mt19937_64& random) {
  const auto matrix = [n](auto&& count) {
    Matrix made(n, Row(n));
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) made[i][j] = count(i, j);
    return made;
  };
  std::vector<Matrix> made;
  made.push_back(matrix([](size_t, size_t) { return 0; }));
  made.push_back(matrix([](size_t i, size_t) { return i == 0 ? 3000 : 0; }));
  made.push_back(matrix([n](size_t, size_t j) { return j == n - 1 ? 3000 : 0; }));
  made.push_back(matrix([](size_t i, size_t j) { return i == j ? 500 : 0; }));
  made.push_back(matrix([n](size_t i, size_t j) { return i == 0 && j == n - 1 ? 1 << 18 : 0; }));
  made.push_back(matrix([](size_t, size_t j) { return uint64_t{1} << (2 * j); }));
  made.push_back(matrix([](size_t i, size_t j) { return 100 + (i + j) % 2; }));
  made.push_back(matrix([n](size_t i, size_t j) {
    return i == n / 2 || j == n / 2 ? 0 : 77;  // one rank takes no part
  }));
  for (int k = 0; k < (is_full() ? 1000 : 20); ++k)
    made.push_back(matrix([&](size_t, size_t) {
      return random() % 10 < 7 ? 0 : random() % (random() % 4 == 0 ? 20'000 : 300);
    }));
  return made;
}

}  // namespace

TEST_CASE("families of counts, places of every kind, all three V forms") {
  std::mt19937_64 random(seed() * 31 + 11);
  for (int n : {2, 3, 5, 7, 8}) {
    const Ranks ranks(n);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    for (const Matrix& counts : families(static_cast<size_t>(n), random)) {
      if (!is_tried(random, 3)) continue;
      const auto placement = static_cast<Placement>(random() % 5);
      const uint64_t start = random();
      std::vector<std::string> errors(static_cast<size_t>(n));
      ranks.each([&](int r) {
        const auto u = static_cast<size_t>(r);
        errors[u] = all_to_all_v(ranks.comm(r), u, counts, placement, start + u);
        if (errors[u].empty())
          errors[u] = gather_and_reduce_v(ranks.comm(r), u, counts[0], placement, start);
      });
      for (size_t r = 0; r < errors.size(); ++r) {
        CAPTURE(n);
        CAPTURE(r);
        CAPTURE(static_cast<int>(placement));
        REQUIRE(errors[r] == "");
      }
      count_cases(3);
    }
  }
}
