// What applications do with GPU ranks beside single calls: graphs, streams, messages, memory.
#include <doctest/doctest.h>

#include <cstring>
#include <numeric>

#include "gpu_ranks.h"
#include "level.h"

using namespace purlin;
using namespace purlin::test;

namespace {

constexpr const char* kPolicy =
    "version: 1\nstaging: {latency_bytes: 256KiB, throughput_bytes: 256KiB}\ncrossover: 4KiB\n"
    "tuning: {default: {chunk: 4KiB, ctas: {stage: 3, reduce: 4, gather: 3}}}\n";

// Input of rank r in round i: sums are exact.
float value(int r, uint64_t index, int round) {
  return static_cast<float>((static_cast<uint64_t>(r + 1) * 1000 + index * 7 + static_cast<uint64_t>(round)) % 4093);
}

void fill(const GpuRanks& ranks, int r, uint64_t at, uint64_t count, int round) {
  std::vector<float> host(count);
  for (uint64_t i = 0; i < count; ++i) host[i] = value(r, i, round);
  ranks.arena(r).write(at, host.data(), count * 4, ranks.stream(r));
}

uint64_t wrong_sums(const GpuRanks& ranks, int r, uint64_t at, uint64_t count, int round) {
  std::vector<float> host(count);
  ranks.arena(r).read(at, host.data(), count * 4, ranks.stream(r));
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < count; ++i) {
    float sum = 0;
    for (int s = 0; s < ranks.size(); ++s) sum += value(s, i, round);
    wrong += host[i] != sum;
  }
  return wrong;
}

std::string ok(purlin_status status) { return status == PURLIN_OK ? "" : purlin_last_error(); }

constexpr uint64_t kOut = 8 << 20;

std::string all_reduce(const GpuRanks& ranks, int r, uint64_t count) {
  return ok(purlin_all_reduce(ranks.arena(r).data(), ranks.arena(r).data() + kOut, count, PURLIN_F32,
                              PURLIN_SUM, ranks.comm(r), ranks.stream(r)));
}

// Collects what ranks say; checked by the main thread.
class Said {
 public:
  explicit Said(int n) : said_(static_cast<size_t>(n)) {}
  void add(int r, const std::string& text) {
    if (said_[static_cast<size_t>(r)].empty()) said_[static_cast<size_t>(r)] = text;
  }
  void check() const {
    for (const std::string& text : said_) CHECK(text == "");
  }

 private:
  std::vector<std::string> said_;
};

}  // namespace

TEST_CASE("graphs and eager calls follow each other with fresh inputs") {
  const auto ranks = GpuRanks::make(2, kPolicy);
  if (!ranks) return;
  for (uint64_t count : {uint64_t{5}, uint64_t{1000}, uint64_t{300'001}}) {
    Said said(2);
    ranks->each([&](int r) {
      const Replay graph(*ranks->device(r), ranks->stream(r), [&] {
        std::string text;
        for (int i = 0; i < 3 && text.empty(); ++i) text = all_reduce(*ranks, r, count);
        return text;
      });
      said.add(r, graph.error());
      said.add(r, ok(purlin_barrier(ranks->comm(r), ranks->stream(r))));
      ranks->synchronize(r);
      for (int round = 0; round < 20; ++round) {
        fill(*ranks, r, 0, count, round);
        if (round % 3 == 1) said.add(r, all_reduce(*ranks, r, count));
        else graph.launch(ranks->stream(r));
        ranks->synchronize(r);
        said.add(r, wrong_sums(*ranks, r, kOut, count, round) == 0 ? "" : "wrong sums");
      }
    });
    said.check();
    count_cases(20);
  }
}

TEST_CASE("calls of two streams on one communicator run in call order") {
  const auto ranks = GpuRanks::make(2, kPolicy);
  if (!ranks) return;
  Said said(2);
  ranks->each([&](int r) {
    auto other = PrivateStream::create(ranks->device(r));
    if (!other) return said.add(r, other.status().message());
    fill(*ranks, r, 0, 50'000, 1);
    for (int i = 0; i < 50; ++i) {
      const cu::Stream stream = i % 2 == 0 ? ranks->stream(r) : other->get();
      said.add(r, ok(purlin_all_reduce(ranks->arena(r).data(), ranks->arena(r).data() + kOut, 50'000,
                                       PURLIN_F32, PURLIN_SUM, ranks->comm(r), stream)));
    }
    said.add(r, other->synchronize().is_ok() ? "" : "the other stream failed");
    ranks->synchronize(r);
    said.add(r, wrong_sums(*ranks, r, kOut, 50'000, 1) == 0 ? "" : "wrong sums");
  });
  said.check();
}

TEST_CASE("a prepared call may be captured without having been made") {
  const auto ranks = GpuRanks::make(2, std::string(kPolicy) + "programs: [{kind: copy}]\n");
  if (!ranks) return;
  Said said(2);
  std::vector<std::string> refused(2);
  ranks->each([&](int r) {
    const auto max = [&] {
      return ok(purlin_all_reduce(ranks->arena(r).data(), ranks->arena(r).data() + kOut, 1000,
                                  PURLIN_F32, PURLIN_MAX, ranks->comm(r), ranks->stream(r)));
    };
    {
      const Replay unprepared(*ranks->device(r), ranks->stream(r), max);
      refused[static_cast<size_t>(r)] = unprepared.error();
    }
    purlin_call call{};
    call.struct_size = sizeof call;
    call.collective = PURLIN_ALL_REDUCE;
    call.dtype = PURLIN_F32;
    call.op = PURLIN_MAX;
    call.count = 1000;
    said.add(r, ok(purlin_prepare(ranks->comm(r), &call, 1)));
    const Replay graph(*ranks->device(r), ranks->stream(r), max);
    said.add(r, graph.error());
    said.add(r, ok(purlin_barrier(ranks->comm(r), ranks->stream(r))));
    ranks->synchronize(r);
    graph.launch(ranks->stream(r));
    ranks->synchronize(r);
    said.add(r, ok(purlin_comm_async_error(ranks->comm(r))));
  });
  said.check();
  for (const std::string& text : refused) {
    CHECK_MESSAGE(text.find("purlin_prepare") != std::string::npos, text);
  }
}

TEST_CASE("messages reach their ranks, alone and in groups, eager and replayed") {
  for (int n : {2, 3, 8}) {
    const auto ranks = GpuRanks::make(n, kPolicy);
    if (!ranks) return;
    for (uint64_t count : {uint64_t{0}, uint64_t{3}, uint64_t{1000}, uint64_t{400'001}}) {
      Said said(n);
      ranks->each([&](int r) {
        const int to = (r + 1) % n;
        const int from = (r + n - 1) % n;
        const auto exchange = [&]() -> std::string {
          std::string text = ok(purlin_group_start());
          unsigned char* memory = ranks->arena(r).data();
          if (text.empty())
            text = ok(purlin_recv(memory + kOut, count, PURLIN_F32, from, ranks->comm(r), ranks->stream(r)));
          if (text.empty())
            text = ok(purlin_send(memory, count, PURLIN_F32, to, ranks->comm(r), ranks->stream(r)));
          const std::string ended = ok(purlin_group_end());
          return text.empty() ? ended : text;
        };
        const Replay graph(*ranks->device(r), ranks->stream(r), exchange);
        said.add(r, graph.error());
        said.add(r, ok(purlin_barrier(ranks->comm(r), ranks->stream(r))));
        ranks->synchronize(r);
        for (int round = 0; round < 6; ++round) {
          fill(*ranks, r, 0, count, round);
          if (round % 2 == 0) said.add(r, exchange());
          else graph.launch(ranks->stream(r));
          ranks->synchronize(r);
          said.add(r, ok(purlin_comm_async_error(ranks->comm(r))));
          std::vector<float> host(count);
          ranks->arena(r).read(kOut, host.data(), count * 4, ranks->stream(r));
          for (uint64_t i = 0; i < count; ++i)
            if (host[i] != value(from, i, round)) said.add(r, "a wrong element of a message");
        }
      });
      said.check();
      count_cases(6);
    }
  }
}

TEST_CASE("memory of purlin_mem_alloc takes part in calls and can be registered") {
  const auto ranks = GpuRanks::make(2, kPolicy);
  if (!ranks) return;
  Said said(2);
  ranks->each([&](int r) {
    void* memory = nullptr;
    said.add(r, ok(purlin_mem_alloc(&memory, 4096)));
    purlin_registration_t registration = nullptr;
    said.add(r, ok(purlin_comm_register(ranks->comm(r), memory, 4096, &registration)));
    said.add(r, ok(purlin_all_reduce(memory, memory, 100, PURLIN_F32, PURLIN_SUM, ranks->comm(r),
                                     ranks->stream(r))));
    ranks->synchronize(r);
    said.add(r, ok(purlin_comm_async_error(ranks->comm(r))));
    said.add(r, ok(purlin_comm_deregister(ranks->comm(r), registration)));
    said.add(r, ok(purlin_mem_free(memory)));
  });
  said.check();
}
