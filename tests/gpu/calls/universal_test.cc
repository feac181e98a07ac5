// Calls whose own program is not loaded: a universal one serves them, in captures too, with the
// same bits and beside ranks that use their own.
#include <doctest/doctest.h>

#include <barrier>
#include <random>

#include "gpu_ranks.h"
#include "level.h"

using namespace purlin;
using namespace purlin::test;

namespace {

// No reduction has a program of its own.
std::string policy_for(const std::string& atom) {
  return "version: 1\ndatapath: {prefer: [" + atom +
         "]}\nstaging: {latency_bytes: 256KiB, throughput_bytes: 256KiB}\ncrossover: 4KiB\n"
         "tuning: {default: {chunk: 4KiB, ctas: {stage: 3, reduce: 4, gather: 3}}}\n"
         "programs: [{kind: copy}, {kind: universal}]\n";
}

std::string ok(purlin_status status) { return status == PURLIN_OK ? "" : purlin_last_error(); }

// Captured, replayed (twice where the input is still there), and compared with the serial reference
// by every rank.
void run_captured(const GpuRanks& ranks, Case c, std::mt19937_64& random) {
  c.n = ranks.size();
  c.root = static_cast<int>(random() % static_cast<uint64_t>(c.n));
  c.seed = random();
  const std::vector<Bytes> in = inputs_of(c);
  std::vector<std::string> said(static_cast<size_t>(c.n));
  ranks.each(
      [&](int r) {
        said[static_cast<size_t>(r)] = run_rank(c, r, in, ranks.carrier(r, c.in_place ? 1 : 2));
      });
  for (int r = 0; r < c.n; ++r)
    REQUIRE_MESSAGE(said[static_cast<size_t>(r)] == "",
                    "rank " << r << " in " << describe(c) << ": " << said[static_cast<size_t>(r)]);
  count_cases(1);
}

constexpr uint64_t kOut = 8 << 20;
constexpr uint64_t kCount = 30'000;   // 120 KB of f32: by chunks
constexpr uint64_t kPackets = 3'000;  // short enough for packets too
constexpr float kScalar = 0.5F;

purlin_call sum_of(const GpuRanks& ranks, int r, purlin_op op) {
  purlin_call call{};
  call.struct_size = sizeof call;
  call.collective = PURLIN_ALL_REDUCE;
  call.dtype = PURLIN_F32;
  call.op = op;
  call.count = kCount;
  call.send = ranks.arena(r).data();
  call.recv = ranks.arena(r).data() + kOut;
  if (op == PURLIN_PREMUL_SUM) call.scalar = &kScalar;
  return call;
}

float value(int r, uint64_t i, int round) {
  return static_cast<float>(
      (static_cast<uint64_t>(r + 1) * 64 + i * 6 + static_cast<uint64_t>(round)) % 4094);
}

void fill(const GpuRanks& ranks, int r, int round) {
  std::vector<float> host(kCount);
  for (uint64_t i = 0; i < kCount; ++i) host[i] = value(r, i, round);
  ranks.arena(r).write(0, host.data(), kCount * 4, ranks.stream(r));
}

std::string compare(const GpuRanks& ranks, int r, int round, float scalar,
                    uint64_t count = kCount) {
  ranks.synchronize(r);
  std::vector<float> host(count);
  ranks.arena(r).read(kOut, host.data(), count * 4, ranks.stream(r));
  for (uint64_t i = 0; i < count; ++i) {
    float sum = 0;  // exact: small whole numbers and halves
    for (int s = 0; s < ranks.size(); ++s) sum += scalar * value(s, i, round);
    if (host[i] != sum)
      return "element " + std::to_string(i) + " of round " + std::to_string(round) + " is wrong";
  }
  return "";
}

}  // namespace

TEST_CASE("every dtype and operation may be captured without a program of its own, and is exact") {
  std::mt19937_64 random(seed() * 37 + 1);
  for (const char* atom : {"hopper", "generic", "ampere"}) {
    for (int n : {3, 8}) {
      if (!is_full() && n == 8 && std::string(atom) != "hopper") continue;
      const auto ranks = GpuRanks::make(n, policy_for(atom));
      if (!ranks) return;
      for (int dtype = 0; dtype < PURLIN_DTYPE_COUNT; ++dtype) {
        for (int op = 0; op < PURLIN_PREMUL_SUM; ++op) {
          for (int path : {PURLIN_PATH_THROUGHPUT, PURLIN_PATH_LATENCY}) {
            constexpr int kReducing[] = {PURLIN_ALL_REDUCE, PURLIN_REDUCE_SCATTER, PURLIN_REDUCE};
            run_captured(*ranks,
                         Case{kReducing[random() % 3], 0, dtype, op, path, 1 + random() % 250,
                              random() % 3 == 0 ? 1 + random() % 15 : 0, random() % 2 == 0, 0, 0},
                         random);
          }
        }
      }
    }
  }
}

TEST_CASE("a pre-multiplied sum is scaled by a universal program") {
  const auto ranks = GpuRanks::make(2, policy_for("hopper"));
  if (!ranks) return;
  std::vector<std::string> said(2);
  for (const purlin_path path : {PURLIN_PATH_THROUGHPUT, PURLIN_PATH_LATENCY}) {
    ranks->each([&](int r) {
      purlin_call call = sum_of(*ranks, r, PURLIN_PREMUL_SUM);
      call.path = path;
      if (path == PURLIN_PATH_LATENCY) call.count = kPackets;
      fill(*ranks, r, 0);
      const Replay graph(*ranks->device(r), ranks->stream(r),
                         [&] { return ok(purlin_run(&call, ranks->comm(r), ranks->stream(r))); });
      std::string& text = said[static_cast<size_t>(r)];
      text = graph.error();
      if (text.empty()) text = ok(purlin_barrier(ranks->comm(r), ranks->stream(r)));
      ranks->synchronize(r);
      if (!text.empty()) return;
      graph.launch(ranks->stream(r));
      text = compare(*ranks, r, 0, kScalar, call.count);
    });
    for (const std::string& text : said) CHECK(text == "");
    count_cases(1);
  }
}

TEST_CASE(
    "a rank on a universal program and one on its own work together, and one takes over from the "
    "other") {
  const auto ranks = GpuRanks::make(3, policy_for("hopper"));
  if (!ranks) return;
  std::vector<std::string> said(3);
  const auto add = [&](int r, const std::string& text) {
    if (said[static_cast<size_t>(r)].empty()) said[static_cast<size_t>(r)] = text;
  };
  std::vector<std::unique_ptr<Replay>> graphs(3);
  // Ranks meet on the host: while a graph is made or a program loaded, no kernel of a peer may wait.
  std::barrier<> meeting(3);
  // Ranks 1 and 2 capture while no program of the sum is loaded; then rank 0 loads it and captures.
  ranks->each([&](int r) {
    purlin_call call = sum_of(*ranks, r, PURLIN_SUM);
    const auto capture = [&] {
      graphs[static_cast<size_t>(r)] = std::make_unique<Replay>(
          *ranks->device(r), ranks->stream(r),
          [&] { return ok(purlin_run(&call, ranks->comm(r), ranks->stream(r))); });
      add(r, graphs[static_cast<size_t>(r)]->error());
    };
    if (r != 0) capture();
    meeting.arrive_and_wait();
    if (r == 0) {
      add(r, ok(purlin_prepare(ranks->comm(r), &call, 1)));
      capture();
    }
    meeting.arrive_and_wait();
    for (int round = 0; round < 6; ++round) {
      fill(*ranks, r, round);
      // In even rounds the programs differ between ranks; eager calls find the one that is loaded
      // now.
      if (round % 2 == 0)
        graphs[static_cast<size_t>(r)]->launch(ranks->stream(r));
      else
        add(r, ok(purlin_run(&call, ranks->comm(r), ranks->stream(r))));
      add(r, compare(*ranks, r, round, 1));
    }
    meeting.arrive_and_wait();
    graphs[static_cast<size_t>(r)].reset();
  });
  for (const std::string& text : said) CHECK(text == "");
  count_cases(6);
}

TEST_CASE("an eager call is served at once") {
  const auto ranks = GpuRanks::make(2, policy_for("hopper"));
  if (!ranks) return;
  std::vector<std::string> said(2);
  ranks->each([&](int r) {
    std::string& text = said[static_cast<size_t>(r)];
    for (int round = 0; round < 20 && text.empty(); ++round) {
      fill(*ranks, r, round);
      const purlin_call call = sum_of(*ranks, r, PURLIN_SUM);
      text = ok(purlin_run(&call, ranks->comm(r), ranks->stream(r)));
      if (text.empty()) text = compare(*ranks, r, round, 1);
    }
  });
  for (const std::string& text : said) CHECK(text == "");
  count_cases(20);
}
