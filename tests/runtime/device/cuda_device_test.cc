#include "device/cuda_device.h"

#include <cstring>
#include <thread>

#include "device/peer_link.h"
#include "gpu/fake_gpu.h"

namespace purlin {
namespace {

using test::check_refusal;
using test::FakeGpu;
using test::FakeSetup;

TEST_CASE("a device is known by its identity and facts") {
  FakeGpu gpu;
  const std::shared_ptr<const CudaDevice> device = gpu.device(1);
  CHECK(device->ordinal() == 1);
  CHECK(device->uuid_text() == "GPU-a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1");
  CHECK(device->describe().find("GPU 1 (Fake H200, GPU-a1") == 0);
  CHECK(device->architecture() == 90);
  CHECK(device->multiprocessors() == 132);
  CHECK(device->sync_domains() == 4);
  const purlin_device_facts& facts = device->facts();
  CHECK(facts.struct_size == sizeof(facts));
  CHECK(facts.kind == PURLIN_ATOM_CUDA);
  CHECK(facts.cc_major == 9);
  CHECK(facts.cc_minor == 0);
  CHECK(facts.shared_bytes_per_block == 232448);
  CHECK(facts.nvlink == 1);
  CHECK(facts.multicast == 1);
  CHECK(facts.memory_bytes == uint64_t{1} << 30);
  CHECK(std::strcmp(facts.name, "Fake H200") == 0);
}

TEST_CASE("an ordinal that is not there is refused with the number of devices") {
  FakeGpu gpu;
  check_refusal(CudaDevice::open(*gpu.api, 2).status(), PURLIN_INVALID_ARGUMENT,
                {"no CUDA device 2", "2 devices are visible", "CUDA_VISIBLE_DEVICES"});
  FakeSetup setup;
  setup.devices = 1;
  FakeGpu single(setup);
  check_refusal(CudaDevice::open(*single.api, 7).status(), PURLIN_INVALID_ARGUMENT,
                {"no CUDA device 7", "1 device is visible"});
}

TEST_CASE("the current device is that of the thread's context, else the first") {
  FakeGpu gpu;
  std::thread([&] {
    CHECK(current_ordinal(*gpu.api).value() == 0);
    const std::shared_ptr<const CudaDevice> second = gpu.device(1);
    const ContextScope scope(*second);
    CHECK(current_ordinal(*gpu.api).value() == 1);
    CHECK(CudaDevice::open(*gpu.api, -1).value()->ordinal() == 1);
  }).join();
}

TEST_CASE("a scope makes a device current and gives the caller's back") {
  FakeGpu gpu;
  const auto first = gpu.device(0);
  const auto second = gpu.device(1);
  const ContextScope outer(*first);
  {
    const ContextScope inner(*second);
    REQUIRE(inner.status().is_ok());
    CHECK(current_ordinal(*gpu.api).value() == 1);
  }
  CHECK(current_ordinal(*gpu.api).value() == 0);
}

TEST_CASE("opening and closing leaves the primary context as it was") {
  FakeGpu gpu;
  for (int i = 0; i < 3; ++i) {
    const auto device = gpu.device(0);
    CHECK(gpu.control.live().contexts == 1);
  }
  CHECK(gpu.control.live().contexts == 0);
  gpu.control.fail("cuDevicePrimaryCtxRetain", cu::kOutOfMemory);
  check_refusal(CudaDevice::open(*gpu.api, 0).status(), PURLIN_OUT_OF_MEMORY,
                {"opening GPU 0", "cuDevicePrimaryCtxRetain"});
  CHECK(gpu.control.live().contexts == 0);
}

TEST_CASE("a device that cannot export memory is refused") {
  FakeSetup setup;
  setup.posix_fd = false;
  FakeGpu gpu(setup);
  check_refusal(CudaDevice::open(*gpu.api, 0).status(), PURLIN_UNSUPPORTED,
                {"GPU 0", "file descriptors", "host ranks"});
}

TEST_CASE("links are told apart by access and native atomics") {
  FakeSetup setup;
  {
    FakeGpu gpu(setup);
    CHECK(link_between(*gpu.api, 0, 0).value() == PeerLink::kSameDevice);
    CHECK(link_between(*gpu.api, 0, 1).value() == PeerLink::kNvlink);
    cu::Uuid stranger = {};
    CHECK(link_to(*gpu.api, 0, stranger).value() == PeerLink::kUnknown);
    CHECK(link_to(*gpu.api, 0, gpu.device(1)->uuid()).value() == PeerLink::kNvlink);
  }
  setup.nvlink = false;
  {
    FakeGpu gpu(setup);
    CHECK(link_between(*gpu.api, 1, 0).value() == PeerLink::kPcie);
    CHECK(gpu.device(0)->facts().nvlink == 0);
  }
  setup.peer_access = false;
  FakeGpu gpu(setup);
  CHECK(link_between(*gpu.api, 1, 0).value() == PeerLink::kUnreachable);
  CHECK_FALSE(carries_wide_packets(PeerLink::kPcie));
  CHECK_FALSE(carries_wide_packets(PeerLink::kUnknown));
  CHECK(carries_wide_packets(PeerLink::kNvlink));
}

}  // namespace
}  // namespace purlin
