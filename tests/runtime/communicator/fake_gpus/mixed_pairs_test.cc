// An AllToAllV on GPUs whose pairs go by packets or by chunks: a rank without long pairs launches the
// packets alone, and stays in step with ranks that launch both.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>

#include "device/context_scope.h"
#include "host_kernels.h"
#include "level.h"
#include "runtime/communicator/ranks.h"

namespace purlin::test {
namespace {

constexpr int kRanks = 3;
constexpr size_t kShort = 40, kLong = 30'000;
constexpr const char* kPolicy =
    "version: 1\nprograms: []\ndatapath: {prefer: [generic]}\ncrossover: 4KiB\n"
    "staging: {latency_bytes: 256KiB, throughput_bytes: 2MiB}\n"
    "tuning: {default: {chunk: 8KiB, ctas: {stage: 2, reduce: 2, gather: 2}}}\n";

using Matrix = std::vector<std::vector<uint64_t>>;  // [sender][receiver], bytes

// One in four pairs is long, but none of `quiet`.
Matrix random_matrix(std::mt19937_64& random, int quiet) {
  Matrix counts(kRanks, std::vector<uint64_t>(kRanks));
  for (int s = 0; s < kRanks; ++s) {
    for (int r = 0; r < kRanks; ++r) {
      const bool is_long = s != quiet && r != quiet && random() % 4 == 0;
      counts[static_cast<size_t>(s)][static_cast<size_t>(r)] =
          is_long ? kLong - random() % 99 : random() % kShort;
    }
  }
  return counts;
}

bool has_long(const Matrix& counts, size_t rank) {
  bool found = false;
  for (size_t p = 0; p < kRanks; ++p)
    found = found || counts[rank][p] > kShort || counts[p][rank] > kShort;
  return found;
}

unsigned char value(size_t from, size_t to, uint64_t i, uint64_t round) {
  return static_cast<unsigned char>(from * 83 + to * 29 + i * 3 + i / 251 + round * 7);
}

size_t launches_of(FakeControl& control, int device) {
  const auto launches = control.launches();
  return static_cast<size_t>(std::ranges::count_if(
      launches, [device](const FakeLaunch& launch) { return launch.device == device; }));
}

// What rank r finds wrong in its part of a round.
std::string run_round(const Matrix& counts, size_t r, uint64_t round, purlin_comm_t comm,
                      cu::Stream stream, unsigned char* in, unsigned char* out,
                      const std::function<void()>& synchronize) {
  std::vector<uint64_t> received;
  uint64_t at = 0;
  for (size_t p = 0; p < kRanks; ++p) {
    for (uint64_t i = 0; i < counts[r][p]; ++i) in[at++] = value(r, p, i, round);
    received.push_back(counts[p][r]);
  }
  std::fill_n(out, kRanks * kLong, static_cast<unsigned char>(0xA5));
  if (purlin_all_to_all_v(in, counts[r].data(), nullptr, out, received.data(), nullptr, PURLIN_U8,
                          comm, stream) != PURLIN_OK)
    return purlin_last_error();
  synchronize();
  if (purlin_comm_async_error(comm) != PURLIN_OK) return purlin_comm_last_error(comm);
  at = 0;
  for (size_t p = 0; p < kRanks; ++p)
    for (uint64_t i = 0; i < received[p]; ++i)
      if (out[at++] != value(p, r, i, round)) return "a wrong byte";
  return out[at] == 0xA5 ? "" : "a byte behind the last part was written";
}

TEST_CASE("a rank whose pairs all go by packets launches once, and its peers' chunks go on") {
#ifndef PURLIN_HAVE_CUDA
  skip("built without a CUDA toolkit: there are no Atoms for GPUs");
  return;
#endif
  REQUIRE(setenv("PURLIN_CUDA_DRIVER", PURLIN_FAKE_DRIVER, 1) == 0);
  FakeControl& control = opened_driver();
  const DriverApi& api = **driver();
  HostKernels kernels(control, kRanks, false);
  const Ranks ranks(std::vector<int>{0, 1, 2}, kPolicy, 20'000);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  std::vector<std::shared_ptr<const CudaDevice>> devices;
  std::vector<unsigned char*> in, out;
  std::vector<cu::Stream> streams;
  for (int r = 0; r < kRanks; ++r) {
    auto opened = CudaDevice::open(api, r);
    REQUIRE_MESSAGE(opened.is_ok(), opened.status().message());
    devices.push_back(*opened);
    const ContextScope scope(*devices.back());
    cu::DevicePtr memory = 0;
    cu::Stream stream = nullptr;
    REQUIRE(api.mem_alloc(&memory, 2 * kRanks * (kLong + 1)).is_ok());
    REQUIRE(api.stream_create(&stream, cu::kStreamNonBlocking).is_ok());
    in.push_back(reinterpret_cast<unsigned char*>(memory));
    out.push_back(in.back() + kRanks * (kLong + 1));
    streams.push_back(stream);
  }
  std::mt19937_64 random(seed() * 31 + 21);
  uint64_t once = 0, twice = 0;
  for (uint64_t round = 0; round < 60; ++round) {
    const Matrix counts = random_matrix(random, static_cast<int>(round % 4));
    std::vector<size_t> before;
    for (int r = 0; r < kRanks; ++r) before.push_back(launches_of(control, r));
    std::vector<std::string> wrong(kRanks);
    ranks.each([&](int r) {
      const auto at = static_cast<size_t>(r);
      const ContextScope scope(*devices[at]);
      wrong[at] = run_round(counts, at, round, ranks.comm(r), streams[at], in[at], out[at],
                            [&] { kernels.synchronize(r); });
    });
    for (int r = 0; r < kRanks; ++r) {
      const auto at = static_cast<size_t>(r);
      CAPTURE(round);
      CAPTURE(r);
      REQUIRE(wrong[at] == "");
      const size_t launched = launches_of(control, r) - before[at];
      CHECK(launched == (has_long(counts, at) ? 2 : 1));
      ++(launched == 1 ? once : twice);
    }
    count_cases(1);
  }
  CHECK(once > 20);
  CHECK(twice > 20);
  for (int r = 0; r < kRanks; ++r) {
    const auto at = static_cast<size_t>(r);
    const ContextScope scope(*devices[at]);
    REQUIRE(api.mem_free(reinterpret_cast<cu::DevicePtr>(in[at])).is_ok());
    REQUIRE(api.stream_destroy(streams[at]).is_ok());
  }
}

}  // namespace
}  // namespace purlin::test
