// The collectives through the public API against the serial reference, bit for bit on every rank.
#include <doctest/doctest.h>

#include <chrono>
#include <cstring>
#include <random>
#include <string>

#include "level.h"
#include "ranks.h"
#include "reference/element.h"
#include "reference/patterns.h"
#include "reference/reference.h"

using namespace purlin::test;
namespace reference = purlin::reference;

namespace {

struct Case {
  int collective, n, dtype, op, path;
  uint64_t count, offset;
  bool in_place;
};

bool reduces(int c) { return c == PURLIN_ALL_REDUCE || c == PURLIN_REDUCE_SCATTER || c == PURLIN_REDUCE; }
bool many_in(int c) { return c == PURLIN_REDUCE_SCATTER || c == PURLIN_ALL_TO_ALL || c == PURLIN_SCATTER; }
bool many_out(int c) { return c == PURLIN_ALL_GATHER || c == PURLIN_ALL_TO_ALL || c == PURLIN_GATHER; }
bool rooted(int c) { return c >= PURLIN_BROADCAST && c <= PURLIN_GATHER; }

using Bytes = std::vector<unsigned char>;

Bytes combined(const Case& c, const std::vector<Bytes>& in, uint64_t begin, uint64_t count) {
  const uint64_t es = reference::element_bytes(static_cast<purlin_dtype>(c.dtype));
  std::vector<const void*> sources;
  for (const Bytes& bytes : in) sources.push_back(bytes.data() + begin * es);
  Bytes out(count * es);
  reference::reduce(static_cast<purlin_dtype>(c.dtype), static_cast<purlin_op>(c.op), sources.data(),
                    static_cast<uint32_t>(c.n), static_cast<uint32_t>(c.n), count, out.data());
  return out;
}

Bytes expected(const Case& c, int rank, int root, const std::vector<Bytes>& in) {
  const uint64_t region = c.count * reference::element_bytes(static_cast<purlin_dtype>(c.dtype));
  auto part = [&](int from, uint64_t index) {
    const auto* begin = in[static_cast<size_t>(from)].data() + index * region;
    return Bytes(begin, begin + region);
  };
  Bytes out;
  auto append = [&](const Bytes& bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); };
  const auto r = static_cast<uint64_t>(rank);
  switch (c.collective) {
    case PURLIN_ALL_REDUCE: return combined(c, in, 0, c.count);
    case PURLIN_REDUCE: return rank == root ? combined(c, in, 0, c.count) : out;
    case PURLIN_REDUCE_SCATTER: return combined(c, in, r * c.count, c.count);
    case PURLIN_BROADCAST: return part(root, 0);
    case PURLIN_SCATTER: return part(root, r);
    case PURLIN_GATHER: if (rank != root) return out; [[fallthrough]];
    case PURLIN_ALL_GATHER: for (int s = 0; s < c.n; ++s) append(part(s, 0)); return out;
    default: for (int s = 0; s < c.n; ++s) append(part(s, r)); return out;
  }
}

void run_case(const Ranks& ranks, const Case& c, std::mt19937_64& random) {
  const auto dtype = static_cast<purlin_dtype>(c.dtype);
  const uint64_t es = reference::element_bytes(dtype);
  const auto n = static_cast<uint64_t>(c.n);
  const int root = static_cast<int>(random() % n);
  const uint64_t in_bytes = c.count * es * (many_in(c.collective) ? n : 1);
  const uint64_t out_bytes = c.count * es * (many_out(c.collective) ? n : 1);
  std::vector<Bytes> in;
  for (int r = 0; r < c.n; ++r) {
    const auto elements = reference::mixed_elements(dtype, in_bytes / es, random());
    in.emplace_back(reinterpret_cast<const unsigned char*>(elements.data()),
                    reinterpret_cast<const unsigned char*>(elements.data()) + in_bytes);
  }
  std::vector<purlin_status> status(n);
  std::vector<int> good(n);
  std::vector<std::string> text(n);
  ranks.each([&](int r) {
    const auto u = static_cast<size_t>(r);
    const uint64_t own = static_cast<uint64_t>(r) * c.count * es;
    Guarded send(std::max(in_bytes, out_bytes), c.offset);
    Guarded recv(out_bytes, c.offset);
    unsigned char* in_at = send.data();
    unsigned char* out_at = recv.data();
    if (c.in_place) {
      if (many_out(c.collective) && !many_in(c.collective)) {
        out_at = send.data();
        in_at = send.data() + (rooted(c.collective) && r != root ? 0 : own);
      } else {
        out_at = send.data() + (many_in(c.collective) && !many_out(c.collective) ? own : 0);
      }
    }
    std::memset(out_at, 0xee, out_bytes);
    std::memcpy(in_at, in[u].data(), in_bytes);
    purlin_call call{};
    call.struct_size = sizeof call;
    call.collective = c.collective;
    call.dtype = c.dtype;
    call.op = c.op;
    call.root = root;
    call.send = in_at;
    call.recv = out_at;
    call.count = c.count;
    call.path = c.path;
    status[u] = purlin_run(&call, ranks.comm(r), nullptr);
    if (status[u] != PURLIN_OK) text[u] = purlin_last_error();
    const Bytes want = expected(c, r, root, in);
    good[u] = std::memcmp(out_at, want.data(), want.size()) == 0 && send.intact() && recv.intact() &&
              (c.in_place || std::memcmp(in_at, in[u].data(), in_bytes) == 0);
  });
  for (int r = 0; r < c.n; ++r) {
    CAPTURE(c.collective); CAPTURE(c.n); CAPTURE(c.dtype); CAPTURE(c.op); CAPTURE(c.path);
    CAPTURE(c.count); CAPTURE(c.offset); CAPTURE(c.in_place); CAPTURE(r);
    CAPTURE(text[static_cast<size_t>(r)]);
    REQUIRE(status[static_cast<size_t>(r)] == PURLIN_OK);
    REQUIRE(good[static_cast<size_t>(r)]);
  }
  count_cases(1);
}

// Small staging, so that messages of some KiB take several rounds.
const char* const kSmall =
    "version: 1\nstaging: {latency_bytes: 64KiB, throughput_bytes: 64KiB}\ncrossover: 1KiB\n"
    "tuning: {default: {chunk: 1KiB}}\n";

}  // namespace

TEST_CASE("every pair of collective, ranks, dtype, op, path, count, offset and form is exact") {
  std::mt19937_64 random(seed() * 31 + 1);
  const int collectives[] = {PURLIN_ALL_GATHER, PURLIN_REDUCE_SCATTER, PURLIN_ALL_REDUCE,
                             PURLIN_ALL_TO_ALL, PURLIN_BROADCAST, PURLIN_REDUCE, PURLIN_SCATTER,
                             PURLIN_GATHER};
  const uint64_t offsets[] = {0, 0, 1, 4, 8, 12};
  for (int n : {1, 2, 3, 4, 5, 6, 7, 8, 16}) {
    const Ranks ranks(n, kSmall);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    const auto un = static_cast<uint64_t>(n);
    const uint64_t counts[] = {0, 1, un - 1, un, un + 1, 15, 16, 17, 127, 128, 129, 255, 256, 257,
                               1023, 1025, 4 * un + 1, 16 * un - 1, 9001};
    for (int collective : collectives) {
      for (int dtype = 0; dtype < PURLIN_DTYPE_COUNT; ++dtype) {
        const int ops = reduces(collective) ? PURLIN_PREMUL_SUM : 1;
        for (int op = 0; op < ops; ++op) {
          for (int path : {PURLIN_PATH_AUTO, PURLIN_PATH_THROUGHPUT, PURLIN_PATH_LATENCY}) {
            const uint64_t es = reference::element_bytes(static_cast<purlin_dtype>(dtype));
            const auto run = [&](uint64_t count, uint64_t offset, bool in_place) {
              // Packets must hold a forced latency call; 16 ranks' share of 64 KiB is the least.
              if (path == PURLIN_PATH_LATENCY) count = std::min<uint64_t>(count, 512 / es);
              run_case(ranks, Case{collective, n, dtype, op, path, count, offset, in_place}, random);
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
    const Ranks ranks(n, kSmall);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    const auto un = static_cast<uint64_t>(n);
    // Crossover and chunk; a half of staging, its streams' slots, its packets for each source.
    const uint64_t half = 64 * 1024;
    const uint64_t bytes[] = {1024, 1024 * un, half, half / un, half / (un + 1), half / un / 2,
                              half / un / 4, half * un, 2 * half};
    for (int collective : {PURLIN_ALL_GATHER, PURLIN_REDUCE_SCATTER, PURLIN_ALL_REDUCE,
                           PURLIN_ALL_TO_ALL}) {
      for (int dtype : {PURLIN_I8, PURLIN_BF16, PURLIN_F32}) {
        const uint64_t es = reference::element_bytes(static_cast<purlin_dtype>(dtype));
        for (uint64_t threshold : bytes) {
          for (uint64_t step : {uint64_t{0}, uint64_t{1}, uint64_t{2}}) {
            const uint64_t total = threshold / es + step - 1;
            const uint64_t count = collective == PURLIN_ALL_REDUCE ? total : total / un + (step == 2);
            if (!is_full() && random() % 3 != 0) continue;
            run_case(ranks, Case{collective, n, dtype, PURLIN_SUM, PURLIN_PATH_AUTO, count, 0, false},
                     random);
          }
        }
      }
    }
  }
}

TEST_CASE("a thousand calls of changing sizes and values, one rank late, stay apart") {
  const int n = 4;
  const Ranks ranks(n, kSmall);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  const uint64_t sizes[] = {1, 4000, 17, 300, 9000, 2};
  std::vector<int> wrong(n);
  ranks.each([&](int r) {
    for (uint32_t i = 0; i < 1000; ++i) {
      const uint64_t count = sizes[i % std::size(sizes)];
      std::vector<uint32_t> in(count, i * 8 + static_cast<uint32_t>(r)), out(count, ~0u);
      if (r == static_cast<int>(i % n) && i % 50 == 0) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(500);
        while (std::chrono::steady_clock::now() < until) {}
      }
      const purlin_status status = purlin_all_reduce(in.data(), out.data(), count, PURLIN_U32,
                                                     PURLIN_SUM, ranks.comm(r), nullptr);
      for (uint32_t v : out) wrong[static_cast<size_t>(r)] += v != i * 32 + 6;
      wrong[static_cast<size_t>(r)] += status != PURLIN_OK;
    }
  });
  for (int r = 0; r < n; ++r) CHECK(wrong[static_cast<size_t>(r)] == 0);
}
