// Whole communicators on a driver on host memory: when multicast calls are made, and when none is.
#include <algorithm>
#include <cstdlib>

#include "gpu/fake_gpu.h"
#include "level.h"
#include "runtime/communicator/ranks.h"
#include "runtime/communicator/switched/test_switch.h"

namespace purlin::test {
namespace {

std::string policy_with(const std::string& reduction) {
  return "version: 1\nprograms: []\nreduction: " + reduction +
         "\nstaging: {latency_bytes: 256KiB, throughput_bytes: 2MiB}\ntuning: {default: {chunk: 64KiB}}\n";
}

// Opened once for all cases: the library keeps what it has opened.
FakeControl& one_slot_driver() {
  static FakeControl& control = []() -> FakeControl& {
    REQUIRE(setenv("PURLIN_CUDA_DRIVER", PURLIN_FAKE_DRIVER, 1) == 0);
    FakeSetup setup;
    setup.multicast_slots = 1;
    return open_fake_driver(PURLIN_FAKE_DRIVER, setup);
  }();
  return control;
}

int multicast_calls(FakeControl& control) {
  int calls = 0;
  for (const char* name : {"cuMulticastCreate", "cuMulticastAddDevice", "cuMulticastBindMem",
                           "cuMulticastUnbind", "cuMulticastGetGranularity"})
    calls += control.calls(name);
  return calls;
}

// Creates two ranks on two GPUs and destroys them: what was logged meanwhile.
std::string logged_by_creating(const std::string& policy) {
  CaughtErrors log;
  const Ranks ranks(std::vector<int>{0, 1}, policy, 30'000);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  return log.text();
}

TEST_CASE("communicators reach multicast calls only where the policy asks and no variable forbids") {
#ifndef PURLIN_HAVE_CUDA
  skip("built without a CUDA toolkit: there are no Atoms for GPUs");
  return;
#endif
  const NoOffSwitches none;
  FakeControl& control = one_slot_driver();
  const int before = multicast_calls(control), created = control.calls("cuMulticastCreate"),
            bound = control.calls("cuMulticastBindMem"),
            unbound = control.calls("cuMulticastUnbind");

  CHECK(logged_by_creating(policy_with("score")) == "");
  CHECK(multicast_calls(control) == before);
  for (const auto& [name, off] : kOffSwitches) {
    for (const char* reduction : {"nvls", "nvls-required"}) {
      setenv(name, off, 1);
      const std::string log = logged_by_creating(policy_with(reduction));
      unsetenv(name);
      const bool preferred = std::string(reduction) == "nvls";
      CHECK_MESSAGE((log.find(std::string(name) + "=" + off) != std::string::npos) == preferred, log);
      CHECK(std::count(log.begin(), log.end(), '\n') == (preferred ? 1 : 0));
      CHECK(multicast_calls(control) == before);
      count_cases(1);
    }
  }

  CHECK(logged_by_creating(policy_with("nvls")) == "");
  CHECK(control.calls("cuMulticastCreate") == created + 1);
  CHECK(control.calls("cuMulticastBindMem") == bound + 2);
  CHECK(control.calls("cuMulticastUnbind") == unbound + 2);
  CHECK(control.live().multicast == 0);

  const Ranks holder(std::vector<int>{0, 1}, policy_with("nvls"), 30'000);  // the only slot
  REQUIRE_MESSAGE(holder.creation_error().empty(), holder.creation_error());
  CHECK(control.live().multicast == 1);
  const std::string log = logged_by_creating(policy_with("nvls"));
  CHECK(std::count(log.begin(), log.end(), '\n') == 1);
  CHECK_MESSAGE(log.find("creating a multicast object") != std::string::npos, log);
  CHECK_MESSAGE(log.find("SCORE is used") != std::string::npos, log);
  CHECK(control.live().multicast == 1);
}

TEST_CASE("buffers are registered with a communicator that the switch serves") {
#ifndef PURLIN_HAVE_CUDA
  skip("built without a CUDA toolkit: there are no Atoms for GPUs");
  return;
#endif
  const NoOffSwitches none;
  one_slot_driver();
  const Ranks ranks(std::vector<int>{0, 1}, policy_with("nvls"), 30'000);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  std::vector<std::string> said(2);
  ranks.each([&](int r) {
    const auto device = CudaDevice::open(**driver(), r);
    const ContextScope scope(**device);
    const auto note = [&said, r](purlin_status status) {
      if (status != PURLIN_OK) said[static_cast<size_t>(r)] += purlin_last_error();
    };
    void* memory = nullptr;
    purlin_registration_t made = nullptr;
    note(purlin_mem_alloc(&memory, 100'000));
    note(purlin_comm_register(ranks.comm(r), memory, 100'000, &made));
    note(purlin_comm_deregister(ranks.comm(r), made));
    note(purlin_mem_free(memory));
  });
  CHECK(said[0] == "");
  CHECK(said[1] == "");
}

}  // namespace
}  // namespace purlin::test
