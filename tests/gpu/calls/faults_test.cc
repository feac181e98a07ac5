// GPU ranks that disagree, come late, refuse, or abort: an error on every rank, never a hang.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "gpu_ranks.h"

using namespace purlin;
using namespace purlin::test;

namespace {

constexpr const char* kPolicy =
    "version: 1\nstaging: {latency_bytes: 256KiB, throughput_bytes: 256KiB}\ncrossover: 4KiB\n"
    "tuning: {default: {chunk: 4KiB, ctas: {stage: 2, reduce: 2, gather: 2}}}\n";

struct Answer {
  purlin_status status = PURLIN_OK;
  std::string text;
};

// What the rank's communicator says once its stream is idle.
Answer settle(const GpuRanks& ranks, int r) {
  ranks.synchronize(r);
  const purlin_status status = purlin_comm_async_error(ranks.comm(r));
  return {status, purlin_comm_last_error(ranks.comm(r))};
}

purlin_status reduce(const GpuRanks& ranks, int r, uint64_t count, int dtype = PURLIN_F32) {
  purlin_call call{};
  call.struct_size = sizeof call;
  call.collective = PURLIN_ALL_REDUCE;
  call.dtype = dtype;
  call.op = PURLIN_SUM;
  call.send = ranks.arena(r).data();
  call.recv = ranks.arena(r).data() + (8 << 20);
  call.count = count;
  return purlin_run(&call, ranks.comm(r), ranks.stream(r));
}

bool says(const Answer& answer, std::initializer_list<const char*> words) {
  for (const char* word : words)
    if (answer.text.find(word) == std::string::npos) return false;
  return true;
}

// A new communicator on the same GPU still works.
void check_gpu_usable() {
  const auto fresh = GpuRanks::make(2, kPolicy);
  std::vector<Answer> answers(2);
  fresh->each([&](int r) {
    if (reduce(*fresh, r, 1000) == PURLIN_OK) answers[static_cast<size_t>(r)] = settle(*fresh, r);
    else answers[static_cast<size_t>(r)] = {PURLIN_INTERNAL, purlin_last_error()};
  });
  for (const Answer& answer : answers) CHECK_MESSAGE(answer.status == PURLIN_OK, answer.text);
}

constexpr unsigned kShortLimit = 700;

}  // namespace

TEST_CASE("a rank that does not come is named within the limit, on both paths") {
  for (uint64_t count : {uint64_t{10}, uint64_t{100'000}}) {
    {
      auto ranks = GpuRanks::make(3, kPolicy, false, kShortLimit);
      if (!ranks) return;
      std::vector<Answer> answers(3);
      ranks->each([&](int r) {
        if (r == 1) return;
        CHECK(reduce(*ranks, r, count) == PURLIN_OK);
        answers[static_cast<size_t>(r)] = settle(*ranks, r);
      });
      for (int r : {0, 2}) {
        const Answer& answer = answers[static_cast<size_t>(r)];
        CHECK_MESSAGE(answer.status == PURLIN_TIMEOUT, answer.text);
        CHECK_MESSAGE(says(answer, {"rank 1", "all_reduce", "epoch 1"}), answer.text);
      }
      // The late rank hears of it too, and a replay on a broken communicator ends at once.
      ranks->each([&](int r) { CHECK(reduce(*ranks, r, count) != PURLIN_OK); });
    }
    check_gpu_usable();
  }
}

TEST_CASE("ranks that disagree hear both sides") {
  for (uint64_t count : {uint64_t{10}, uint64_t{100'000}}) {
    const auto ranks = GpuRanks::make(2, kPolicy);
    if (!ranks) return;
    std::vector<Answer> answers(2);
    ranks->each([&](int r) {
      CHECK(reduce(*ranks, r, count + static_cast<uint64_t>(r)) == PURLIN_OK);
      answers[static_cast<size_t>(r)] = settle(*ranks, r);
    });
    for (const Answer& answer : answers) {
      CHECK_MESSAGE(answer.status == PURLIN_MISMATCH, answer.text);
      CHECK_MESSAGE(says(answer, {std::to_string(count).c_str(), std::to_string(count + 1).c_str()}),
                    answer.text);
    }
  }
}

TEST_CASE("abort ends a waiting kernel") {
  auto ranks = GpuRanks::make(2, kPolicy);
  if (!ranks) return;
  std::vector<Answer> answers(2);
  std::atomic<bool> launched{false};
  const auto begin = std::chrono::steady_clock::now();
  ranks->each([&](int r) {
    if (r == 0) {
      CHECK(reduce(*ranks, r, 100'000) == PURLIN_OK);
      launched = true;
      answers[0] = settle(*ranks, r);
    } else {
      while (!launched) std::this_thread::yield();
      CHECK(purlin_comm_abort(ranks->comm(r)) == PURLIN_OK);
      answers[1] = settle(*ranks, r);
    }
  });
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
  for (const Answer& answer : answers) {
    CHECK_MESSAGE(answer.status == PURLIN_ABORTED, answer.text);
    CHECK_MESSAGE(says(answer, {"rank 1"}), answer.text);
  }
  ranks.reset();  // its CTAs are wanted
  check_gpu_usable();
}

TEST_CASE("a rank that refuses its arguments does not leave the others waiting") {
  const auto ranks = GpuRanks::make(2, kPolicy);
  if (!ranks) return;
  std::vector<Answer> answers(2);
  ranks->each([&](int r) {
    if (r == 1) {
      CHECK(reduce(*ranks, r, 1000, 99) == PURLIN_INVALID_ARGUMENT);
      return;
    }
    CHECK(reduce(*ranks, r, 1000) == PURLIN_OK);
    answers[0] = settle(*ranks, r);
  });
  CHECK_MESSAGE(answers[0].status == PURLIN_INVALID_ARGUMENT, answers[0].text);
  CHECK_MESSAGE(says(answers[0], {"rank 1", "refused"}), answers[0].text);
}

TEST_CASE("host memory is refused before anything is enqueued") {
  const auto ranks = GpuRanks::make(2, kPolicy);
  if (!ranks) return;
  std::vector<float> host(100);
  std::vector<Answer> answers(2);
  ranks->each([&](int r) {
    answers[static_cast<size_t>(r)].status =
        purlin_all_reduce(host.data(), ranks->arena(r).data(), 100, PURLIN_F32, PURLIN_SUM,
                          ranks->comm(r), ranks->stream(r));
    answers[static_cast<size_t>(r)].text = purlin_last_error();
  });
  for (const Answer& answer : answers) {
    CHECK_MESSAGE(answer.status == PURLIN_INVALID_ARGUMENT, answer.text);
    CHECK_MESSAGE(says(answer, {"send", "host memory"}), answer.text);
  }
  // Nothing was broken by it.
  ranks->each([&](int r) {
    CHECK(reduce(*ranks, r, 100) == PURLIN_OK);
    answers[static_cast<size_t>(r)] = settle(*ranks, r);
  });
  for (const Answer& answer : answers) CHECK_MESSAGE(answer.status == PURLIN_OK, answer.text);
}

TEST_CASE("a graph of a broken communicator ends at replay with the same error") {
  const auto ranks = GpuRanks::make(2, kPolicy, false, kShortLimit);
  if (!ranks) return;
  std::vector<Answer> answers(2);
  ranks->each([&](int r) {
    const Replay graph(*ranks->device(r), ranks->stream(r), [&] {
      return reduce(*ranks, r, 1000) == PURLIN_OK ? std::string() : std::string(purlin_last_error());
    });
    CHECK(graph.error() == "");
    CHECK(purlin_barrier(ranks->comm(r), ranks->stream(r)) == PURLIN_OK);
    ranks->synchronize(r);
    if (r == 1) return;
    graph.launch(ranks->stream(r));
    const Answer first = settle(*ranks, r);
    const auto begin = std::chrono::steady_clock::now();
    graph.launch(ranks->stream(r));
    answers[0] = settle(*ranks, r);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(500));
    CHECK(first.text == answers[0].text);
  });
  CHECK_MESSAGE(answers[0].status == PURLIN_TIMEOUT, answers[0].text);
}
