// Multicast memory is set up by all ranks in step, or by none; against a driver on host memory.
#include "communicator/switch_memory.h"

#include <algorithm>
#include <optional>

#include "gpu/fake_gpu.h"
#include "level.h"
#include "runtime/communicator/switched/test_switch.h"
#include "runtime/rendezvous/rank_threads.h"

namespace purlin {
namespace {

using test::FakeGpu;
using test::FakeLive;
using test::FakeSetup;
using test::NoOffSwitches;

constexpr uint64_t kBytes = 3 << 20;  // becomes two granules
const char* const kMulticastCalls[] = {"cuMulticastCreate", "cuMulticastAddDevice",
                                       "cuMulticastBindMem", "cuMulticastUnbind",
                                       "cuMulticastGetGranularity"};

FakeSetup setup_of(int devices) {
  FakeSetup setup;
  setup.devices = devices;
  return setup;
}

// One rank of a set-up, and what it ended with.
struct Seat {
  std::unique_ptr<Rendezvous> rendezvous;
  std::optional<SwitchMemory> memory;
  Status status;
};

// All ranks, rank r on device `devices[r]`.
std::vector<Seat> set_up(FakeGpu& gpu, const std::vector<int>& devices) {
  const Address address = purlin_test::fresh_address();
  const int n = static_cast<int>(devices.size());
  std::vector<Seat> seats(devices.size());
  std::vector<std::shared_ptr<const CudaDevice>> opened;
  for (int ordinal : devices) opened.push_back(gpu.device(ordinal));
  const auto said = purlin_test::run_ranks(n, [&](int rank) -> std::string {
    Seat& seat = seats[static_cast<size_t>(rank)];
    auto joined = Rendezvous::join(purlin_test::options_for(address, rank, n));
    if (!joined) return joined.status().message();
    seat.rendezvous = std::move(*joined);
    auto memory = SwitchMemory::create(opened[static_cast<size_t>(rank)], kBytes, *seat.rendezvous);
    seat.status = memory.status();
    if (memory) seat.memory.emplace(*std::move(memory));
    return "";
  });
  for (const std::string& one : said) REQUIRE(one == "");
  return seats;
}

std::vector<int> apart(int n) {
  std::vector<int> devices;
  for (int d = 0; d < n; ++d) devices.push_back(d);
  return devices;
}

int multicast_calls(FakeGpu& gpu) {
  int calls = 0;
  for (const char* name : kMulticastCalls) calls += gpu.control.calls(name);
  return calls;
}

TEST_CASE("ranks of any number bind their memory into one object, and its slot returns") {
  const NoOffSwitches none;
  for (int n : {2, 3, 8}) {
    FakeGpu gpu(setup_of(n));
    const FakeLive before = gpu.control.live();
    {
      const auto seats = set_up(gpu, apart(n));
      for (const Seat& seat : seats) {
        REQUIRE_MESSAGE(seat.status.is_ok(), seat.status.message());
        CHECK(seat.memory->replica() != nullptr);
        CHECK(seat.memory->view() != nullptr);
        CHECK(seat.memory->view() != seat.memory->replica());
        CHECK(seat.memory->replica()[kBytes - 1] == 0);
      }
      CHECK(gpu.control.live().multicast == 1);
      CHECK(gpu.control.calls("cuMulticastCreate") == 1);
      CHECK(gpu.control.calls("cuMulticastAddDevice") == n);
      CHECK(gpu.control.calls("cuMulticastBindMem") == n);
      test::count_cases(1);
    }
    CHECK(gpu.control.calls("cuMulticastUnbind") == n);
    FakeLive after = gpu.control.live();
    after.contexts = before.contexts;
    CHECK(after == before);
  }
}

TEST_CASE("what fails on one rank, in any step, is every rank's verdict and leaves nothing behind") {
  const NoOffSwitches none;
  const int n = 3;
  for (const char* call : {"cuMulticastGetGranularity", "cuMulticastCreate", "cuMulticastAddDevice",
                           "cuMulticastBindMem", "cuMemExportToShareableHandle",
                           "cuMemImportFromShareableHandle", "cuMemMap", "cuMemCreate"}) {
    for (int skip : {0, 1, 2, 4}) {
      FakeGpu gpu(setup_of(n));
      const FakeLive before = gpu.control.live();
      gpu.control.fail(call, cu::kOutOfMemory, skip);
      {
        const auto seats = set_up(gpu, apart(n));
        const bool reached = !seats[0].status.is_ok();
        if (!reached) continue;  // fewer such calls are made
        CAPTURE(call);
        CAPTURE(skip);
        for (const Seat& seat : seats) {
          CHECK(seat.status.code() == PURLIN_OUT_OF_MEMORY);
          CHECK(seat.status.message() == seats[0].status.message());
          CHECK_MESSAGE(seat.status.message().find(call) != std::string::npos,
                        seat.status.message());
          CHECK_MESSAGE(seat.status.message().find("rank ") != std::string::npos,
                        seat.status.message());
          // Nothing is kept by a rank that could go on.
          CHECK_FALSE(seat.memory.has_value());
        }
        test::count_cases(1);
      }
      FakeLive after = gpu.control.live();
      after.contexts = before.contexts;
      CHECK(after == before);
    }
  }
}

TEST_CASE("a driver that is not ready is asked again, by the ranks that it concerns") {
  const NoOffSwitches none;
  const int n = 3;
  for (const char* call : {"cuMulticastCreate", "cuMulticastAddDevice", "cuMulticastBindMem"}) {
    FakeGpu gpu(setup_of(n));
    gpu.control.fail(call, cu::kSystemNotReady);
    gpu.control.fail(call, cu::kNotReady);
    const auto seats = set_up(gpu, apart(n));
    for (const Seat& seat : seats) CHECK_MESSAGE(seat.status.is_ok(), seat.status.message());
    const int needed = std::string(call) == "cuMulticastCreate" ? 1 : n;
    CHECK(gpu.control.calls(call) == needed + 2);
    test::count_cases(1);
  }
}

TEST_CASE("a driver that never gets ready is given up, by all ranks at once") {
  const NoOffSwitches none;
  if (!test::is_full()) {
    test::skip("takes seven seconds: level full");
    return;
  }
  FakeGpu gpu(setup_of(2));
  for (int i = 0; i < 1000; ++i) gpu.control.fail("cuMulticastAddDevice", cu::kSystemNotReady);
  for (const Seat& seat : set_up(gpu, apart(2))) {
    CHECK(seat.status.code() == PURLIN_CUDA_ERROR);
    CHECK(seat.status.message().find("not ready") != std::string::npos);
  }
  CHECK(gpu.control.live().multicast == 0);
}

TEST_CASE("a switch without a slot left refuses all ranks, and slots that return serve again") {
  const NoOffSwitches none;
  FakeSetup setup = setup_of(2);
  setup.multicast_slots = 6;
  FakeGpu gpu(setup);
  std::vector<std::vector<Seat>> all;
  for (int i = 0; i < 9; ++i) {
    all.push_back(set_up(gpu, apart(2)));
    for (const Seat& seat : all.back()) {
      CHECK(seat.status.is_ok() == (i < 6));
      if (i < 6) continue;
      CHECK(seat.status.code() == PURLIN_OUT_OF_MEMORY);
      CHECK(seat.status.message().find("creating a multicast object") != std::string::npos);
    }
  }
  CHECK(gpu.control.live().multicast == 6);
  all.erase(all.begin(), all.begin() + 3);
  CHECK(gpu.control.live().multicast == 3);
  for (int i = 0; i < 3; ++i) {
    all.push_back(set_up(gpu, apart(2)));
    CHECK(all.back()[0].status.is_ok());
  }
  all.clear();
  CHECK(gpu.control.live().multicast == 0);
}

TEST_CASE("ranks that share a GPU, and GPUs without multicast, are refused before any object is made") {
  const NoOffSwitches none;
  FakeGpu gpu(setup_of(2));
  for (const Seat& seat : set_up(gpu, {0, 1, 0})) {
    CHECK(seat.status.code() == PURLIN_UNSUPPORTED);
    CHECK(seat.status.message() == "ranks 0 and 2 share a GPU, and the switch joins one rank of each");
  }
  CHECK(multicast_calls(gpu) == 0);
}

TEST_CASE("with any off-switch set no multicast call is reached") {
  const NoOffSwitches none;
  for (const auto& [name, off] : test::kOffSwitches) {
    FakeGpu gpu(setup_of(2));
    setenv(name, off, 1);
    for (const Seat& seat : set_up(gpu, apart(2))) {
      CHECK(seat.status.code() == PURLIN_UNSUPPORTED);
      CHECK(seat.status.message().find(name) != std::string::npos);
    }
    unsetenv(name);
    CHECK(multicast_calls(gpu) == 0);
  }
}

}  // namespace
}  // namespace purlin
