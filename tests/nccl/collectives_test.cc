// Every collective and message with the right result, through NCCL's numbers for types and
// operations.
#include <bit>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>

#include "level.h"
#include "library.h"
#include "purlin/purlin.h"

namespace purlin::test {
namespace {

constexpr int kN = 4;
constexpr size_t kCount = 1003;

template <class T>
using Buffers = std::vector<std::vector<T>>;

// Small whole numbers that differ by rank and place.
int value_at(int rank, size_t i) {
  return static_cast<int>((i * 7 + static_cast<size_t>(rank) * 3) % 11) + 1;
}

template <class T>
Buffers<T> inputs(size_t count) {
  Buffers<T> all(kN, std::vector<T>(count));
  for (int r = 0; r < kN; ++r)
    for (size_t i = 0; i < count; ++i)
      all[static_cast<size_t>(r)][i] = static_cast<T>(value_at(r, i));
  return all;
}

template <class T>
T* at(Buffers<T>& buffers, int rank) {
  return buffers[static_cast<size_t>(rank)].data();
}

TEST_CASE("reductions have NCCL's numbers") {
  Ranks ranks(kN);
  auto in = inputs<int64_t>(kCount);
  const auto expected = [&](int op, size_t i) -> int64_t {
    int64_t sum = 0, product = 1, most = 0, least = 1000;
    for (int r = 0; r < kN; ++r) {
      const int64_t v = value_at(r, i);
      sum += v, product *= v, most = std::max(most, v), least = std::min(least, v);
    }
    const int64_t results[] = {sum, product, most, least, sum / kN};
    return results[op];
  };
  for (int op = kSum; op <= kAvg; ++op) {
    Buffers<int64_t> out(kN, std::vector<int64_t>(kCount));
    const Result result = ranks.group([&](int r) {
      return lib().AllReduce(at(in, r), at(out, r), kCount, 4, op, ranks[r], nullptr);
    });
    CHECK(result == kSuccess);
    for (int r = 0; r < kN; ++r)
      for (size_t i = 0; i < kCount; ++i)
        if (at(out, r)[i] != expected(op, i)) FAIL("op ", op, " rank ", r, " element ", i);
    count_cases(1);
  }
}

TEST_CASE("pre-multiplied sums, of every type, with scalars on either side") {
  Ranks ranks(2);
  // One element 3 and the factors 2 and 4, hence 3 * 2 + 3 * 4 = 18, as each type writes them.
  struct Type {
    Dtype dtype;
    size_t bytes;
    uint64_t three, two, four, eighteen;
  };
  const auto f32 = [](float v) { return uint64_t{std::bit_cast<uint32_t>(v)}; };
  const auto f64 = [](double v) { return std::bit_cast<uint64_t>(v); };
  const Type types[] = {{PURLIN_I8, 1, 3, 2, 4, 18},
                        {PURLIN_U8, 1, 3, 2, 4, 18},
                        {PURLIN_I32, 4, 3, 2, 4, 18},
                        {PURLIN_U32, 4, 3, 2, 4, 18},
                        {PURLIN_I64, 8, 3, 2, 4, 18},
                        {PURLIN_U64, 8, 3, 2, 4, 18},
                        {PURLIN_F16, 2, 0x4200, 0x4000, 0x4400, 0x4c80},
                        {PURLIN_F32, 4, f32(3), f32(2), f32(4), f32(18)},
                        {PURLIN_F64, 8, f64(3), f64(2), f64(4), f64(18)},
                        {PURLIN_BF16, 2, 0x4040, 0x4000, 0x4080, 0x4190},
                        {PURLIN_F8E4M3, 1, 0x44, 0x40, 0x48, 0x59},
                        {PURLIN_F8E5M2, 1, 0x42, 0x40, 0x44, 0x4c}};
  for (const Type& type : types) {
    for (const ScalarPlace place : {kScalarOnHost, kScalarOnDevice}) {
      uint64_t in[] = {type.three, type.three}, out[] = {0, 0}, scalars[] = {type.two, type.four};
      int ops[2];
      for (int r = 0; r < 2; ++r)
        REQUIRE(lib().RedOpCreatePreMulSum(&ops[r], &scalars[r], type.dtype, place, ranks[r]) ==
                kSuccess);
      if (place == kScalarOnHost) scalars[0] = scalars[1] = 0;  // it has been read
      const Result result = ranks.group([&](int r) {
        return lib().AllReduce(&in[r], &out[r], 1, type.dtype, ops[r], ranks[r], nullptr);
      });
      CHECK(result == kSuccess);
      uint64_t expected = type.eighteen;
      // 18 lies between the e5m2 numbers 16 and 20 and is as far from both: to even, 16.
      for (int r = 0; r < 2; ++r) CHECK_MESSAGE(out[r] == expected, type.dtype);
      for (int r = 0; r < 2; ++r) CHECK(lib().RedOpDestroy(ops[r], ranks[r]) == kSuccess);
      CHECK(lib().RedOpDestroy(ops[0], ranks[0]) == kInvalidArgument);
      count_cases(1);
    }
  }
}

TEST_CASE("operations belong to a communicator and a type") {
  Ranks one(1), other(1);
  float scalar = 0.5f, data[2] = {8, 8};
  int op = 0;
  REQUIRE(lib().RedOpCreatePreMulSum(&op, &scalar, 7, kScalarOnHost, one[0]) == kSuccess);
  CHECK(op >= kFirstOwnOp);
  CHECK(lib().AllReduce(data, data, 2, 7, op, other[0], nullptr) == kInvalidArgument);
  CHECK(lib().AllReduce(data, data, 1, 8, op, one[0], nullptr) == kInvalidArgument);
  CHECK(last_text().find("type 7") != std::string::npos);
  CHECK(lib().AllReduce(data, data, 2, 7, op, one[0], nullptr) == kSuccess);
  CHECK(data[1] == 4);
  CHECK(lib().RedOpDestroy(kSum, one[0]) == kInvalidArgument);
  CHECK(lib().RedOpDestroy(op, one[0]) == kSuccess);
  CHECK(lib().AllReduce(data, data, 2, 7, op, one[0], nullptr) == kInvalidArgument);
  CHECK(lib().AllReduce(data, data, 2, 12, kSum, one[0], nullptr) == kInvalidArgument);
  CHECK(lib().AllReduce(data, data, 2, 7, -1, one[0], nullptr) == kInvalidArgument);
}

TEST_CASE("what moves data moves it to the right place, also in place and of no elements") {
  Ranks ranks(kN);
  for (const size_t count : {size_t{0}, size_t{1}, kCount}) {
    const auto whole = static_cast<size_t>(kN) * count;
    CAPTURE(count);
    auto in = inputs<int>(whole);
    Buffers<int> out(kN, std::vector<int>(whole, -1));
    const auto all = [&](const std::function<Result(int)>& call) {
      CHECK(ranks.group(call) == kSuccess);
      count_cases(1);
    };
    SUBCASE("AllGather") {
      all([&](int r) {
        return lib().AllGather(at(in, r), at(out, r), count, 2, ranks[r], nullptr);
      });
      for (int r = 0; r < kN; ++r)
        for (size_t i = 0; i < whole; ++i)
          REQUIRE(at(out, r)[i] == value_at(static_cast<int>(i / count), i % count));
    }
    SUBCASE("ReduceScatter in place") {
      all([&](int r) {
        return lib().ReduceScatter(at(in, r), at(in, r) + static_cast<size_t>(r) * count, count, 2,
                                   kSum, ranks[r], nullptr);
      });
      for (int r = 0; r < kN; ++r)
        for (size_t i = 0; i < count; ++i) {
          const size_t place = static_cast<size_t>(r) * count + i;
          int sum = 0;
          for (int p = 0; p < kN; ++p) sum += value_at(p, place);
          REQUIRE(at(in, r)[place] == sum);
        }
    }
    SUBCASE("AlltoAll") {
      all([&](int r) {
        return lib().AlltoAll(at(in, r), at(out, r), count, 2, ranks[r], nullptr);
      });
      for (int r = 0; r < kN; ++r)
        for (size_t i = 0; i < whole; ++i)
          REQUIRE(at(out, r)[i] == value_at(static_cast<int>(i / count),
                                            static_cast<size_t>(r) * count + i % count));
    }
    SUBCASE("Broadcast and Bcast") {
      all([&](int r) {
        return lib().Broadcast(r == 2 ? at(in, r) : nullptr, at(out, r), count, 2, 2, ranks[r],
                               nullptr);
      });
      all([&](int r) { return lib().Bcast(at(in, r), count, 2, 1, ranks[r], nullptr); });
      for (int r = 0; r < kN; ++r)
        for (size_t i = 0; i < count; ++i) {
          REQUIRE(at(out, r)[i] == value_at(2, i));
          REQUIRE(at(in, r)[i] == value_at(1, i));
        }
    }
    SUBCASE("Reduce") {
      all([&](int r) {
        return lib().Reduce(at(in, r), r == 3 ? at(out, r) : nullptr, count, 2, kMax, 3, ranks[r],
                            nullptr);
      });
      for (size_t i = 0; i < count; ++i) {
        int most = 0;
        for (int p = 0; p < kN; ++p) most = std::max(most, value_at(p, i));
        REQUIRE(at(out, 3)[i] == most);
      }
    }
    SUBCASE("Gather, then Scatter back") {
      Buffers<int> back(kN, std::vector<int>(count, -1));
      all([&](int r) {
        return lib().Gather(at(in, r), r == 1 ? at(out, r) : nullptr, count, 2, 1, ranks[r],
                            nullptr);
      });
      all([&](int r) {
        return lib().Scatter(r == 1 ? at(out, r) : nullptr, at(back, r), count, 2, 1, ranks[r],
                             nullptr);
      });
      for (int r = 0; r < kN; ++r)
        for (size_t i = 0; i < count; ++i) REQUIRE(at(back, r)[i] == value_at(r, i));
    }
    SUBCASE("Send and Recv around a ring, in one group") {
      all([&](int r) {
        const Result sent = lib().Send(at(in, r), count, 2, (r + 1) % kN, ranks[r], nullptr);
        if (sent != kSuccess) return sent;
        return lib().Recv(at(out, r), count, 2, (r + kN - 1) % kN, ranks[r], nullptr);
      });
      for (int r = 0; r < kN; ++r)
        for (size_t i = 0; i < count; ++i) REQUIRE(at(out, r)[i] == value_at((r + kN - 1) % kN, i));
    }
  }
}

// PyTorch makes uneven gathers and reduce-scatters of these.
TEST_CASE("grouped Broadcasts and Reduces of different sizes") {
  Ranks ranks(kN);
  const size_t counts[kN] = {5, 0, 700, 31};
  const size_t places[kN] = {0, 5, 5, 705};
  auto in = inputs<int>(736);
  Buffers<int> gathered(kN, std::vector<int>(736, -1)), reduced(kN, std::vector<int>(700, -1));
  const Result first = ranks.group([&](int r) {
    Result result = kSuccess;
    for (int root = 0; root < kN && result == kSuccess; ++root)
      result = lib().Broadcast(at(in, r), at(gathered, r) + places[root], counts[root], 2, root,
                               ranks[r], nullptr);
    return result;
  });
  CHECK(first == kSuccess);
  const Result second = ranks.group([&](int r) {
    Result result = kSuccess;
    for (int root = 0; root < kN && result == kSuccess; ++root)
      result = lib().Reduce(at(in, r) + places[root], at(reduced, r), counts[root], 2, kSum, root,
                            ranks[r], nullptr);
    return result;
  });
  CHECK(second == kSuccess);
  for (int r = 0; r < kN; ++r)
    for (int root = 0; root < kN; ++root)
      for (size_t i = 0; i < counts[root]; ++i) {
        REQUIRE(at(gathered, r)[places[root] + i] == value_at(root, i));
        int sum = 0;
        for (int p = 0; p < kN; ++p) sum += value_at(p, places[root] + i);
        REQUIRE(at(reduced, root)[i] == sum);
      }
}

TEST_CASE("ranks of threads of their own need no groups but for exchanges") {
  Ranks ranks(3);
  std::vector<int> results(3, -1);
  std::vector<std::thread> threads;
  for (int r = 0; r < 3; ++r)
    threads.emplace_back([&, r] {
      int mine = r + 1, sum = 0, from_left = -1;
      bool good = lib().AllReduce(&mine, &sum, 1, 2, kSum, ranks[r], nullptr) == kSuccess;
      good = good && lib().GroupStart() == kSuccess;
      good = good && lib().Send(&mine, 1, 2, (r + 1) % 3, ranks[r], nullptr) == kSuccess;
      good = good && lib().Recv(&from_left, 1, 2, (r + 2) % 3, ranks[r], nullptr) == kSuccess;
      good = lib().GroupEnd() == kSuccess && good;
      results[static_cast<size_t>(r)] = good ? sum * 10 + from_left : -2;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(results == std::vector<int>{63, 61, 62});
}

TEST_CASE("steps of a hypercube, each in an inner group, send on what they received") {
  constexpr int kRanks = 8;
  constexpr size_t kPart = 1000;
  const Ranks ranks(kRanks);
  std::vector<std::vector<int>> all(kRanks, std::vector<int>(kRanks * kPart, -1));
  const Result result = ranks.group([&](int r) {
    int* const mine = all[static_cast<size_t>(r)].data();
    for (size_t i = 0; i < kPart; ++i) mine[static_cast<size_t>(r) * kPart + i] = value_at(r, i);
    for (int mask = 1; mask < kRanks; mask *= 2) {
      const int have = r & ~(mask - 1), get = have ^ mask;
      const size_t count = kPart * static_cast<size_t>(mask);
      REQUIRE(lib().GroupStart() == kSuccess);
      CHECK(lib().Send(mine + static_cast<size_t>(have) * kPart, count, PURLIN_I32, r ^ mask,
                       ranks[r], nullptr) == kSuccess);
      CHECK(lib().Recv(mine + static_cast<size_t>(get) * kPart, count, PURLIN_I32, r ^ mask,
                       ranks[r], nullptr) == kSuccess);
      CHECK(lib().GroupEnd() == kSuccess);
    }
    return kSuccess;
  });
  CHECK(result == kSuccess);
  for (const std::vector<int>& got : all)
    for (size_t i = 0; i < got.size(); ++i)
      if (got[i] != value_at(static_cast<int>(i / kPart), i % kPart)) FAIL("element ", i);
}

TEST_CASE("messages of any size between all ranks in one group, also where some have none") {
  constexpr int kRanks = 8;
  const Ranks ranks(kRanks);
  // As a program that gives farther ranks more: none to itself.
  const auto bytes = [](size_t total, int from, int to) {
    return total * static_cast<size_t>(std::abs(from - to)) / 28 / 16 * 16;
  };
  for (const size_t total : {size_t{8}, size_t{512}, size_t{100'000}, size_t{3'000'000}}) {
    std::vector<std::vector<unsigned char>> in(kRanks), out(kRanks);
    for (int r = 0; r < kRanks; ++r) {
      const auto at = static_cast<size_t>(r);
      in[at].resize(total);
      out[at].resize(2 * total);
      for (size_t i = 0; i < total; ++i) in[at][i] = static_cast<unsigned char>(value_at(r, i));
    }
    const Result result = ranks.group([&](int r) {
      const unsigned char* send = in[static_cast<size_t>(r)].data();
      unsigned char* receive = out[static_cast<size_t>(r)].data();
      for (int peer = 0; peer < kRanks; ++peer) {
        const size_t sent = bytes(total, r, peer), received = bytes(total, peer, r);
        if (sent != 0) CHECK(lib().Send(send, sent, 0, peer, ranks[r], nullptr) == kSuccess);
        if (received != 0)
          CHECK(lib().Recv(receive, received, 0, peer, ranks[r], nullptr) == kSuccess);
        send += sent, receive += received;
      }
      return kSuccess;
    });
    CHECK(result == kSuccess);
    for (int r = 0; r < kRanks; ++r) {
      const unsigned char* got = out[static_cast<size_t>(r)].data();
      for (int from = 0; from < kRanks; ++from) {
        size_t place = 0;
        for (int to = 0; to < r; ++to) place += bytes(total, from, to);
        const size_t size = bytes(total, from, r);
        if (size != 0 && std::memcmp(got, in[static_cast<size_t>(from)].data() + place, size) != 0)
          FAIL("total ", total, ", from ", from, " to ", r);
        got += size;
      }
    }
    count_cases(1);
  }
}

}  // namespace
}  // namespace purlin::test
