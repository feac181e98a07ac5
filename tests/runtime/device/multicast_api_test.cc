#include "device/multicast_api.h"

#include <cstdlib>

#include "gpu/fake_gpu.h"

namespace purlin {
namespace {

using test::check_refusal;
using test::FakeGpu;

constexpr const char* kSwitches[] = {"PURLIN_NVLS_ENABLE", "NCCL_NVLS_ENABLE",
                                     "TORCH_SYMM_MEM_DISABLE_MULTICAST", "NVSHMEM_DISABLE_NVLS"};

// The environment without off-switches, restored afterwards.
struct NoSwitches {
  NoSwitches() {
    for (const char* name : kSwitches) {
      const char* value = std::getenv(name);
      saved.emplace_back(value == nullptr ? "" : value);
      unsetenv(name);
    }
  }
  ~NoSwitches() {
    for (size_t i = 0; i < saved.size(); ++i) {
      if (!saved[i].empty()) setenv(kSwitches[i], saved[i].c_str(), 1);
    }
  }
  std::vector<std::string> saved;
};

TEST_CASE("each off-switch forbids multicast, and its opposite does not") {
  const NoSwitches none;
  CHECK(multicast_forbidden_by().empty());
  for (size_t i = 0; i < std::size(kSwitches); ++i) {
    const bool enable = i < 2;
    setenv(kSwitches[i], enable ? "0" : "1", 1);
    CHECK(multicast_forbidden_by() == std::string(kSwitches[i]) + (enable ? "=0" : "=1"));
    setenv(kSwitches[i], enable ? "1" : "0", 1);
    CHECK(multicast_forbidden_by().empty());
    unsetenv(kSwitches[i]);
  }
}

TEST_CASE("with an off-switch no multicast call is resolved or reached") {
  const NoSwitches none;
  FakeGpu gpu;
  const uint64_t before = MulticastApi::calls();
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  check_refusal(MulticastApi::open(*gpu.api).status(), PURLIN_UNSUPPORTED,
                {"NCCL_NVLS_ENABLE=0", "reduction: score"});
  unsetenv("NCCL_NVLS_ENABLE");
  auto multicast = std::move(MulticastApi::open(*gpu.api)).value();
  setenv("PURLIN_NVLS_ENABLE", "0", 1);  // set after the functions were found
  cu::MemHandle object = 0;
  cu::MulticastProp prop = {};
  check_refusal(multicast->create(&object, &prop), PURLIN_UNSUPPORTED,
                {"cuMulticastCreate", "PURLIN_NVLS_ENABLE=0"});
  unsetenv("PURLIN_NVLS_ENABLE");
  CHECK(MulticastApi::calls() == before);
  CHECK(gpu.control.calls("cuMulticastCreate") == 0);
}

TEST_CASE("calls are counted and their failures named") {
  const NoSwitches none;
  FakeGpu gpu;
  auto multicast = std::move(MulticastApi::open(*gpu.api)).value();
  const uint64_t before = MulticastApi::calls();
  cu::MemHandle object = 0, memory = 0;
  cu::MulticastProp prop = {};
  prop.devices = 1;
  prop.bytes = 2 << 20;
  prop.handle_types = cu::kHandleTypePosixFd;
  cu::MemAllocationProp physical = {};
  physical.type = cu::kAllocationPinned;
  physical.location = {cu::kLocationDevice, 0};
  REQUIRE(gpu.api->mem_create(&memory, prop.bytes, &physical, 0).is_ok());
  size_t granularity = 0;
  CHECK(multicast->get_granularity(&granularity, &prop, 0).is_ok());
  CHECK(granularity == prop.bytes);
  CHECK(multicast->create(&object, &prop).is_ok());
  gpu.control.fail("cuMulticastAddDevice", cu::kSystemNotReady);
  CHECK_FALSE(multicast->add_device(object, 0).is_ok());
  CHECK(multicast->not_ready());
  CHECK(multicast->add_device(object, 0).is_ok());
  CHECK_FALSE(multicast->not_ready());
  CHECK(multicast->bind_mem(object, 0, memory, 0, granularity).is_ok());
  gpu.control.fail("cuMulticastUnbind", cu::kNotSupported);
  check_refusal(multicast->unbind(object, 0, 0, granularity), PURLIN_CUDA_ERROR,
                {"cuMulticastUnbind failed"});
  CHECK_FALSE(multicast->not_ready());
  CHECK(MulticastApi::calls() == before + 6);
  setenv("NCCL_NVLS_ENABLE", "0", 1);  // what was bound can be given back all the same
  CHECK(multicast->unbind(object, 0, 0, granularity).is_ok());
  unsetenv("NCCL_NVLS_ENABLE");
}

TEST_CASE("a driver without multicast is told apart") {
  const NoSwitches none;
  test::FakeSetup setup;
  setup.hidden_call = "cuMulticastBindMem";
  FakeGpu gpu(setup);
  check_refusal(MulticastApi::open(*gpu.api).status(), PURLIN_UNSUPPORTED, {"no multicast calls"});
}

}  // namespace
}  // namespace purlin
