// V forms whose counts lie in device memory: read by the kernel when it runs, so that a graph
// replays with new ones.
#include <doctest/doctest.h>

#include <functional>
#include <random>

#include "gpu_ranks.h"
#include "level.h"

using namespace purlin;
using namespace purlin::test;

namespace {

std::string policy_for(const std::string& atom) {
  return "version: 1\ndatapath: {prefer: [" + atom +
         "]}\nstaging: {latency_bytes: 256KiB, throughput_bytes: 256KiB}\ncrossover: 4KiB\n"
         "tuning: {default: {chunk: 4KiB, ctas: {stage: 3, reduce: 4, gather: 3}}}\n"
         "programs: [{kind: copy}]\n";
}

using Counts = std::vector<uint64_t>;
constexpr uint64_t kOut = 16 << 20, kRows = 48 << 20;  // places in the arena
constexpr int32_t kUntouched = -77;

// The arrays of one rank, in device memory one after the other.
struct Rows {
  Counts send, send_at, receive, receive_at;  // displacements may be empty
};

std::string ok(purlin_status status) { return status == PURLIN_OK ? "" : purlin_last_error(); }

purlin_call call_of(const GpuRanks& ranks, int r, int collective, uint64_t bound, bool placed) {
  const auto n = static_cast<uint64_t>(ranks.size());
  auto* rows = reinterpret_cast<const uint64_t*>(ranks.arena(r).data() + kRows);
  purlin_call call{};
  call.struct_size = sizeof call;
  call.collective = collective;
  call.dtype = PURLIN_I32;
  call.op = PURLIN_SUM;
  call.send = ranks.arena(r).data();
  call.recv = ranks.arena(r).data() + kOut;
  call.send_counts = rows;
  call.recv_counts = rows + 2 * n;
  if (placed) call.send_displs = rows + n;
  if (placed) call.recv_displs = rows + 3 * n;
  call.counts_on_device = 1;
  call.bound_part = bound;
  call.bound_total = bound * n;
  return call;
}

void write_rows(const GpuRanks& ranks, int r, const Rows& rows) {
  uint64_t at = kRows;
  for (const Counts* row : {&rows.send, &rows.send_at, &rows.receive, &rows.receive_at}) {
    if (!row->empty()) ranks.arena(r).write(at, row->data(), row->size() * 8, ranks.stream(r));
    at += static_cast<uint64_t>(ranks.size()) * 8;
  }
}

Counts one_after_another(const Counts& counts) {
  Counts places;
  uint64_t at = 0;
  for (uint64_t count : counts) {
    places.push_back(at);
    at += count;
  }
  return places;
}

// Regions in another order, with gaps.
Counts apart(const Counts& counts, uint64_t bound) {
  Counts places;
  for (size_t i = 0; i < counts.size(); ++i)
    places.push_back((counts.size() - 1 - i) * (bound + 3) + 1);
  return places;
}

int32_t value(int source, uint64_t i, int round) {
  return static_cast<int32_t>(static_cast<uint64_t>(source) * 1'000'003 + i * 13 +
                              static_cast<uint64_t>(round) * 7);
}

// What one call moves: `matrix[s][d]` elements from s to d; for an all_gather_v and a
// reduce_scatter_v one row that all ranks share.
struct Round {
  int collective;
  std::vector<Counts> matrix;

  Rows rows(int r, bool placed, uint64_t bound) const {
    const auto self = static_cast<size_t>(r);
    Rows rows;
    rows.send = matrix[self];
    for (const Counts& from : matrix) rows.receive.push_back(from[self]);
    if (collective == PURLIN_ALL_GATHER_V) rows.receive = matrix[0];
    rows.send_at = placed ? apart(rows.send, bound) : one_after_another(rows.send);
    rows.receive_at = placed ? apart(rows.receive, bound) : one_after_another(rows.receive);
    return rows;
  }

  // The whole output of rank r, `size` elements.
  std::vector<int32_t> expected(int r, bool placed, uint64_t bound, int round, size_t size) const {
    std::vector<int32_t> out(size, kUntouched);
    const int n = static_cast<int>(matrix.size());
    const Rows own = rows(r, placed, bound);
    if (collective == PURLIN_REDUCE_SCATTER_V) {
      const uint64_t count = own.send[static_cast<size_t>(r)];
      for (uint64_t i = 0; i < count; ++i) {
        uint32_t sum = 0;
        for (int s = 0; s < n; ++s)
          sum += static_cast<uint32_t>(value(s, own.send_at[static_cast<size_t>(r)] + i, round));
        out[i] = static_cast<int32_t>(sum);
      }
      return out;
    }
    for (int s = 0; s < n; ++s) {
      const auto source = static_cast<size_t>(s);
      const uint64_t from = collective == PURLIN_ALL_GATHER_V
                                ? 0
                                : rows(s, placed, bound).send_at[static_cast<size_t>(r)];
      for (uint64_t i = 0; i < own.receive[source]; ++i)
        out[own.receive_at[source] + i] = value(s, from + i, round);
    }
    return out;
  }
};

Round random_round(int collective, int n, uint64_t bound, std::mt19937_64& random) {
  Round round{collective, {}};
  const auto ranks = static_cast<size_t>(n);
  for (size_t s = 0; s < ranks; ++s) {
    Counts row(ranks);
    for (uint64_t& count : row)
      count = random() % 4 == 0 ? 0 : random() % 5 == 0 ? bound : random() % (bound + 1);
    // One row for all, but where every pair has a count of its own.
    round.matrix.push_back(collective == PURLIN_ALL_TO_ALL_V || s == 0 ? row : round.matrix[0]);
  }
  return round;
}

struct Outcome {
  purlin_status status = PURLIN_OK;
  std::string text;
};

// Makes a call that must end in an error. Where a peer has stopped this rank before, its preparation or launch
// says so.
Outcome run_to_error(const GpuRanks& ranks, int r, const purlin_call& call) {
  Outcome outcome;
  outcome.status = purlin_prepare(ranks.comm(r), &call, 1);
  if (outcome.status == PURLIN_OK)
    outcome.status = purlin_run(&call, ranks.comm(r), ranks.stream(r));
  if (outcome.status != PURLIN_OK) outcome.text = purlin_last_error();
  ranks.synchronize(r);
  return outcome;
}

// Of all ranks, once the calls of all have ended: one that had all it needed may have ended before a peer
// found the fault.
void find_errors(const GpuRanks& ranks, std::vector<Outcome>* outcomes) {
  for (int r = 0; r < ranks.size(); ++r) {
    Outcome& one = (*outcomes)[static_cast<size_t>(r)];
    if (one.status != PURLIN_OK) continue;
    one.status = purlin_comm_async_error(ranks.comm(r));
    one.text = purlin_comm_last_error(ranks.comm(r));
  }
}

}  // namespace

TEST_CASE("a graph of V forms is replayed with counts that are written before each replay") {
  std::mt19937_64 random(seed() * 43 + 1);
  constexpr int kCollectives[] = {PURLIN_ALL_GATHER_V, PURLIN_REDUCE_SCATTER_V,
                                  PURLIN_ALL_TO_ALL_V};
  for (const char* atom : {"hopper", "generic"}) {
    for (int n : {2, 3, 8}) {
      if (!is_full() && std::string(atom) == "generic" && n != 3) continue;
      const auto ranks = GpuRanks::make(n, policy_for(atom));
      if (!ranks) return;
      for (int collective : kCollectives) {
        for (uint64_t bound : {uint64_t{90}, uint64_t{40'000}}) {  // by packets, by chunks
          const bool placed = random() % 2 == 0;
          constexpr int kRounds = 8;
          std::vector<Round> rounds;
          for (int i = 0; i < kRounds; ++i)
            rounds.push_back(random_round(collective, n, bound, random));
          const size_t size = static_cast<size_t>(n) * (bound + 3) + 1;
          std::vector<std::string> said(static_cast<size_t>(n));
          ranks->each([&](int r) {
            std::string& text = said[static_cast<size_t>(r)];
            const purlin_call call = call_of(*ranks, r, collective, bound, placed);
            text = ok(purlin_prepare(ranks->comm(r), &call, 1));
            const Replay graph(*ranks->device(r), ranks->stream(r), [&] {
              return ok(purlin_run(&call, ranks->comm(r), ranks->stream(r)));
            });
            if (text.empty()) text = graph.error();
            if (text.empty()) text = ok(purlin_barrier(ranks->comm(r), ranks->stream(r)));
            ranks->synchronize(r);
            for (int i = 0; i < kRounds && text.empty(); ++i) {
              write_rows(*ranks, r, rounds[static_cast<size_t>(i)].rows(r, placed, bound));
              std::vector<int32_t> host(size);
              for (size_t k = 0; k < size; ++k) host[k] = value(r, k, i);
              ranks->arena(r).write(0, host.data(), size * 4, ranks->stream(r));
              std::fill(host.begin(), host.end(), kUntouched);
              ranks->arena(r).write(kOut, host.data(), size * 4, ranks->stream(r));
              // Eager calls and replays follow each other.
              if (i % 3 == 2)
                text = ok(purlin_run(&call, ranks->comm(r), ranks->stream(r)));
              else
                graph.launch(ranks->stream(r));
              ranks->synchronize(r);
              if (purlin_comm_async_error(ranks->comm(r)) != PURLIN_OK)
                text = purlin_comm_last_error(ranks->comm(r));
              ranks->arena(r).read(kOut, host.data(), size * 4, ranks->stream(r));
              if (text.empty() &&
                  host != rounds[static_cast<size_t>(i)].expected(r, placed, bound, i, size))
                text = "wrong bytes in round " + std::to_string(i);
            }
          });
          for (const std::string& text : said) {
            CAPTURE(std::string(atom));
            CAPTURE(n);
            CAPTURE(collective);
            CAPTURE(bound);
            REQUIRE(text == "");
          }
          count_cases(kRounds);
        }
      }
    }
  }
}

TEST_CASE("a count above its bound stops all ranks, and nothing is written") {
  struct Excess {
    int collective;
    Counts counts;
    const char* words[2];
  };
  const Excess cases[] = {{PURLIN_ALL_GATHER_V, {3, 11, 0}, {"44 bytes", "40 bytes"}},
                          {PURLIN_REDUCE_SCATTER_V, {9, 9, 9}, {"108 bytes", "80 bytes"}},
                          {PURLIN_ALL_TO_ALL_V, {0, 0, ~uint64_t{0}}, {"rank 1", "40 bytes"}}};
  for (const Excess& one : cases) {
    const auto ranks = GpuRanks::make(3, policy_for("hopper"));
    if (!ranks) return;
    std::vector<Outcome> outcomes(3);
    std::vector<std::vector<int32_t>> out(3, std::vector<int32_t>(64));
    ranks->each([&](int r) {
      const auto self = static_cast<size_t>(r);
      purlin_call call = call_of(*ranks, r, one.collective, 10, false);
      call.bound_total = 20;
      const Counts row = r == 1 ? one.counts : Counts{1, 1, 1};
      write_rows(*ranks, r, Rows{row, {}, row, {}});
      const std::vector<int32_t> poison(64, kUntouched);
      ranks->arena(r).write(kOut, poison.data(), 256, ranks->stream(r));
      outcomes[self] = run_to_error(*ranks, r, call);
      ranks->arena(r).read(kOut, out[self].data(), 256, ranks->stream(r));
    });
    find_errors(*ranks, &outcomes);
    for (const Outcome& found : outcomes) {
      CAPTURE(found.text);
      CHECK(found.status == PURLIN_INVALID_ARGUMENT);
      for (const char* word : one.words) CHECK(found.text.find(word) != std::string::npos);
    }
    CHECK(out[1] == std::vector<int32_t>(64, kUntouched));
    count_cases(1);
  }
}

TEST_CASE("ranks whose counts disagree are told") {
  for (const uint64_t bound : {uint64_t{100}, uint64_t{20'000}}) {
    const auto ranks = GpuRanks::make(2, policy_for("hopper"));
    if (!ranks) return;
    std::vector<Outcome> outcomes(2);
    ranks->each([&](int r) {
      const auto self = static_cast<size_t>(r);
      purlin_call call = call_of(*ranks, r, PURLIN_ALL_TO_ALL_V, bound, false);
      // Rank 0 says that it sends 5 to rank 1, which takes 6.
      write_rows(*ranks, r, r == 0 ? Rows{{1, 5}, {}, {1, 7}, {}} : Rows{{7, 1}, {}, {6, 1}, {}});
      outcomes[self] = run_to_error(*ranks, r, call);
    });
    find_errors(*ranks, &outcomes);
    for (const Outcome& found : outcomes)
      CHECK_MESSAGE(found.status == PURLIN_MISMATCH, found.text);
    count_cases(1);
  }
}

TEST_CASE("a captured call that reads counts and is not prepared is refused") {
  const auto ranks = GpuRanks::make(2, policy_for("hopper"));
  if (!ranks) return;
  std::vector<std::string> text(2);
  ranks->each([&](int r) {
    const purlin_call call = call_of(*ranks, r, PURLIN_ALL_GATHER_V, 100, false);
    const Replay graph(*ranks->device(r), ranks->stream(r),
                       [&] { return ok(purlin_run(&call, ranks->comm(r), ranks->stream(r))); });
    text[static_cast<size_t>(r)] = graph.error();
  });
  for (const std::string& one : text)
    CHECK_MESSAGE(one.find("purlin_prepare") != std::string::npos, one);
}
