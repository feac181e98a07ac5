// Registered buffers of GPU ranks, from the API to what kernels are given, on a driver that keeps
// device memory in host memory: kernels are done by host threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "device/capture.h"
#include "gpu/fake_gpu.h"
#include "host_kernels.h"
#include "level.h"
#include "runtime/communicator/ranks.h"
#include "runtime/communicator/switched/test_switch.h"

namespace purlin::test {
namespace {

constexpr const char* kPolicy =
    "version: 1\ndatapath: {prefer: [generic]}\ncrossover: 0\n"
    "staging: {latency_bytes: 256KiB, throughput_bytes: 2MiB}\n"
    "tuning: {default: {chunk: 8KiB, ctas: {stage: 2, reduce: 2, gather: 2}}}\n";
constexpr const char* kNoPrograms = "programs: []\n";
constexpr uint64_t kBytes = 100'003;

struct Gpus {
  static constexpr int kRanks = 2;
  explicit Gpus(const std::string& programs = kNoPrograms) {
    REQUIRE(setenv("PURLIN_CUDA_DRIVER", PURLIN_FAKE_DRIVER, 1) == 0);
    control = &opened_driver();
    api = *driver();
    kernels = std::make_unique<HostKernels>(*control, kRanks, true);
    for (int r = 0; r < kRanks; ++r) {
      auto opened = CudaDevice::open(*api, r);
      REQUIRE_MESSAGE(opened.is_ok(), opened.status().message());
      devices.push_back(*opened);
      const ContextScope scope(*devices.back());
      cu::Stream stream = nullptr;
      REQUIRE(api->stream_create(&stream, cu::kStreamNonBlocking).is_ok());
      streams.push_back(stream);
    }
    ranks = std::make_unique<Ranks>(std::vector<int>{0, 1}, kPolicy + programs, 30'000);
    REQUIRE_MESSAGE(ranks->creation_error().empty(), ranks->creation_error());
  }
  // Runs `body(rank)` on a thread for each rank, its device current; then waits for its kernels.
  void each(const std::function<void(int rank)>& body) {
    ranks->each([&](int r) {
      const ContextScope scope(*devices[static_cast<size_t>(r)]);
      body(r);
      kernels->synchronize(r);
    });
  }
  purlin_comm_t comm(int r) const { return ranks->comm(r); }
  cu::Stream stream(int r) const { return streams[static_cast<size_t>(r)]; }

  FakeControl* control;
  const DriverApi* api;
  std::vector<std::shared_ptr<const CudaDevice>> devices;
  std::vector<cu::Stream> streams;
  std::unique_ptr<HostKernels> kernels;
  std::unique_ptr<Ranks> ranks;
};

unsigned char value(int rank, uint64_t i) {
  return static_cast<unsigned char>(rank * 91 + 3 * i + 1);
}

void fill(unsigned char* buffer, int rank) {
  for (uint64_t i = 0; i < kBytes; ++i) buffer[i] = value(rank, i);
}
uint64_t wrong_sums(const unsigned char* buffer) {
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < kBytes; ++i)
    wrong += buffer[i] != static_cast<unsigned char>(value(0, i) + value(1, i));
  return wrong;
}
std::string said(int status) { return status == PURLIN_OK ? "" : purlin_last_error(); }

// An all-reduce in place of both ranks, `buffers` filled before.
void reduce(Gpus& gpus, unsigned char* const* buffers) {
  std::vector<std::string> wrong(Gpus::kRanks);
  gpus.each([&](int r) {
    fill(buffers[r], r);
    wrong[static_cast<size_t>(r)] = said(purlin_all_reduce(
        buffers[r], buffers[r], kBytes, PURLIN_U8, PURLIN_SUM, gpus.comm(r), gpus.stream(r)));
  });
  for (int r = 0; r < Gpus::kRanks; ++r) {
    CHECK(wrong[static_cast<size_t>(r)] == "");
    CHECK(wrong_sums(buffers[r]) == 0);
  }
}

bool skips() {
#ifdef PURLIN_HAVE_CUDA
  return false;
#else
  skip("built without a CUDA toolkit: there are no Atoms for GPUs");
  return true;
#endif
}

TEST_CASE(
    "a call names its registered buffers, until they are deregistered, and nothing is left "
    "mapped") {
  if (skips()) return;
  Gpus gpus;
  unsigned char* buffers[Gpus::kRanks] = {};
  purlin_registration_t made[Gpus::kRanks] = {};
  gpus.each([&](int r) {
    void* memory = nullptr;
    CHECK(said(purlin_mem_alloc(&memory, kBytes + 4096)) == "");
    buffers[r] = static_cast<unsigned char*>(memory) + 100;  // inside what is registered
  });
  const FakeLive before = gpus.control->live();
  gpus.each([&](int r) {
    CHECK(said(purlin_comm_register(gpus.comm(r), buffers[r] - 100, kBytes + 4096, &made[r])) ==
          "");
  });
  CHECK(gpus.control->live().mappings == before.mappings + Gpus::kRanks);
  for (int round = 0; round < 3; ++round) reduce(gpus, buffers);
  for (int r = 0; r < Gpus::kRanks; ++r) {
    const DeviceParams last = gpus.kernels->last(r);
    CHECK(last.place[0] == (uint64_t{1} << 48 | 100));
    CHECK(last.place[1] == (uint64_t{1} << 48 | (100 + last.receive[1][r].offset)));
  }
  gpus.each([&](int r) { CHECK(said(purlin_comm_deregister(gpus.comm(r), made[r])) == ""); });
  CHECK(gpus.control->live().mappings == before.mappings);
  CHECK(gpus.control->live().handles == before.handles);
  reduce(gpus, buffers);
  CHECK(gpus.kernels->last(0).place[0] == 0);
  gpus.each([&](int r) { CHECK(said(purlin_mem_free(buffers[r] - 100)) == ""); });
}

TEST_CASE(
    "one rank's memory that cannot be shared is staged, the other's is not, and one line says "
    "why") {
  if (skips()) return;
  Gpus gpus;
  unsigned char* buffers[Gpus::kRanks] = {};
  purlin_registration_t made[Gpus::kRanks] = {};
  buffers[0] = static_cast<unsigned char*>(gpus.control->make_pool_memory(kBytes));
  CaughtErrors log;
  gpus.each([&](int r) {
    if (r == 1) {
      cu::DevicePtr address = 0;
      CHECK(gpus.api->mem_alloc(&address, kBytes).is_ok());
      buffers[1] = reinterpret_cast<unsigned char*>(address);
    }
    CHECK(said(purlin_comm_register(gpus.comm(r), buffers[r], kBytes, &made[r])) == "");
  });
  const std::string text = log.text();
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  CHECK_MESSAGE(text.find("rank 0") != std::string::npos, text);
  reduce(gpus, buffers);
  CHECK(gpus.kernels->last(0).place[0] == 0);
  CHECK(gpus.kernels->last(1).place[0] != 0);

  // Freed, and allocated anew at once: where the address is the same, the memory is another.
  gpus.each([&](int r) {
    if (r == 0) return;
    gpus.api->raw().mem_free(reinterpret_cast<cu::DevicePtr>(buffers[1]));
    cu::DevicePtr address = 0;
    CHECK(gpus.api->mem_alloc(&address, kBytes).is_ok());
    buffers[1] = reinterpret_cast<unsigned char*>(address);
  });
  reduce(gpus, buffers);
  CHECK(gpus.kernels->last(1).place[0] == 0);
  gpus.each([&](int r) { CHECK(said(purlin_comm_deregister(gpus.comm(r), made[r])) == ""); });
  gpus.api->raw().mem_free(reinterpret_cast<cu::DevicePtr>(buffers[1]));
  gpus.control->free_special_memory(buffers[0]);
}

TEST_CASE(
    "a registration whose programs cannot be made leaves nothing open, and a later one makes "
    "them") {
  if (skips()) return;
  Gpus gpus("programs: [{kind: reduce, dtypes: [u8]}]\n");
  void* buffers[Gpus::kRanks] = {};
  purlin_registration_t made[Gpus::kRanks] = {};
  gpus.each([&](int r) { CHECK(said(purlin_mem_alloc(&buffers[r], kBytes)) == ""); });
  const FakeLive before = gpus.control->live();
  gpus.control->fail("cuLibraryLoadData", cu::kOutOfMemory);
  gpus.each([&](int r) {
    const int status = purlin_comm_register(gpus.comm(r), buffers[r], kBytes, &made[r]);
    CHECK(status == PURLIN_OUT_OF_MEMORY);
    CHECK_MESSAGE(said(status).find("cuLibraryLoadData") != std::string::npos, said(status));
  });
  CHECK(gpus.control->live().mappings == before.mappings);
  CHECK(gpus.control->live().handles == before.handles);
  const int loaded = gpus.control->calls("cuLibraryLoadData");
  gpus.each([&](int r) {
    CHECK(said(purlin_comm_register(gpus.comm(r), buffers[r], kBytes, &made[r])) == "");
  });
  CHECK(gpus.control->calls("cuLibraryLoadData") == loaded + 1);
  unsigned char* const bytes[] = {static_cast<unsigned char*>(buffers[0]),
                                  static_cast<unsigned char*>(buffers[1])};
  reduce(gpus, bytes);
  CHECK(gpus.kernels->last(0).place[0] != 0);
  gpus.each([&](int r) {
    CHECK(said(purlin_comm_deregister(gpus.comm(r), made[r])) == "");
    CHECK(said(purlin_mem_free(buffers[r])) == "");
  });
}

TEST_CASE(
    "graphs replay calls on registered buffers, and after deregistration their replay is an "
    "error") {
  if (skips()) return;
  Gpus gpus;
  unsigned char* buffers[Gpus::kRanks] = {};
  purlin_registration_t made[Gpus::kRanks] = {};
  cu::Graph captured[Gpus::kRanks] = {};
  cu::GraphExec graphs[Gpus::kRanks] = {};
  gpus.each([&](int r) {
    void* memory = nullptr;
    CHECK(said(purlin_mem_alloc(&memory, kBytes)) == "");
    buffers[r] = static_cast<unsigned char*>(memory);
    CHECK(said(purlin_comm_register(gpus.comm(r), memory, kBytes, &made[r])) == "");
  });
  reduce(gpus, buffers);  // makes the program
  gpus.each([&](int r) {
    const DriverApi& api = *gpus.api;
    CHECK(api.stream_begin_capture(gpus.stream(r), cu::kCaptureThreadLocal).is_ok());
    CHECK(said(purlin_all_reduce(buffers[r], buffers[r], kBytes, PURLIN_U8, PURLIN_SUM,
                                 gpus.comm(r), gpus.stream(r))) == "");
    CHECK(api.stream_end_capture(gpus.stream(r), &captured[r]).is_ok());
    CHECK(api.graph_instantiate(&graphs[r], captured[r], 0).is_ok());
  });
  for (int round = 0; round < 3; ++round) {
    gpus.each([&](int r) {
      fill(buffers[r], r);
      CHECK(gpus.api->graph_launch(graphs[r], gpus.stream(r)).is_ok());
    });
    for (const unsigned char* buffer : buffers) CHECK(wrong_sums(buffer) == 0);
  }
  gpus.each([&](int r) { CHECK(said(purlin_comm_deregister(gpus.comm(r), made[r])) == ""); });
  gpus.each([&](int r) { CHECK(gpus.api->graph_launch(graphs[r], gpus.stream(r)).is_ok()); });
  for (int r = 0; r < Gpus::kRanks; ++r) {
    CHECK(purlin_comm_async_error(gpus.comm(r)) != PURLIN_OK);
    const std::string text = purlin_comm_last_error(gpus.comm(r));
    CHECK_MESSAGE(text.find("registration 1") != std::string::npos, text);
  }
  gpus.each([&](int r) {
    gpus.api->raw().graph_exec_destroy(graphs[r]);
    gpus.api->raw().graph_destroy(captured[r]);
    CHECK(said(purlin_mem_free(buffers[r])) == "");
  });
}

}  // namespace
}  // namespace purlin::test
