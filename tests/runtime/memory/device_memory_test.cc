#include "memory/device_memory.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "gpu/fake_gpu.h"
#include "level.h"
#include "memory/peer_mapping.h"
#include "memory/user_memory.h"

namespace purlin {
namespace {

using test::check_refusal;
using test::FakeGpu;
using test::FakeLive;
using test::FakeSetup;

constexpr uint64_t kGranularity = 2 << 20;

const std::byte* bytes_at(cu::DevicePtr address) {
  return reinterpret_cast<const std::byte*>(address);
}

TEST_CASE("device memory is rounded up, zero, and given back") {
  FakeGpu gpu;
  const auto device = gpu.device();
  const FakeLive before = gpu.control.live();
  {
    DeviceMemory memory =
        std::move(DeviceMemory::create(device, kGranularity + 1, "staging")).value();
    CHECK(memory.bytes() == kGranularity + 1);
    CHECK(memory.mapped_bytes() == 2 * kGranularity);
    const std::byte* first = bytes_at(memory.address());
    CHECK(std::all_of(first, first + memory.mapped_bytes(),
                      [](std::byte b) { return b == std::byte{0}; }));
    DeviceMemory moved = std::move(memory);
    CHECK(moved.release().is_ok());
    CHECK(moved.release().is_ok());
  }
  CHECK(gpu.control.live() == before);
}

TEST_CASE("memory that cannot be had is refused with what was asked, and nothing stays") {
  FakeSetup setup;
  setup.memory_bytes = 8 << 20;
  FakeGpu gpu(setup);
  const auto device = gpu.device();
  const FakeLive before = gpu.control.live();
  check_refusal(DeviceMemory::create(device, 16 << 20, "staging").status(), PURLIN_OUT_OF_MEMORY,
                {"staging: 16777216 bytes on GPU 0", "cuMemCreate", "staging sizes"});
  check_refusal(DeviceMemory::create(device, 0, "staging").status(), PURLIN_INVALID_ARGUMENT,
                {"0 bytes", "1 to"});
  check_refusal(DeviceMemory::create(device, UINT64_MAX, "staging").status(),
                PURLIN_INVALID_ARGUMENT, {"18446744073709551615"});
  for (const char* call :
       {"cuMemGetAllocationGranularity", "cuMemCreate", "cuMemAddressReserve", "cuMemMap",
        "cuMemSetAccess", "cuStreamCreate", "cuMemsetD8Async", "cuStreamSynchronize"}) {
    gpu.control.fail(call, cu::kUnknown);
    check_refusal(DeviceMemory::create(device, 64, "flags").status(), PURLIN_CUDA_ERROR,
                  {call, "flags"});
    CHECK_MESSAGE(gpu.control.live() == before, call);
  }
}

TEST_CASE("allocation does not disturb another stream's capture") {
  FakeGpu gpu;
  const auto device = gpu.device();
  const cu::Stream stream = gpu.stream(*device);
  REQUIRE(gpu.api->stream_begin_capture(stream, cu::kCaptureGlobal).is_ok());
  CHECK(DeviceMemory::create(device, 64, "staging").is_ok());
  cu::Graph graph = nullptr;
  CHECK(gpu.api->stream_end_capture(stream, &graph).is_ok());
}

TEST_CASE("a failing release is reported, and the rest is released all the same") {
  FakeGpu gpu;
  const auto device = gpu.device();
  const FakeLive before = gpu.control.live();
  DeviceMemory memory = std::move(DeviceMemory::create(device, 64, "staging")).value();
  gpu.control.fail("cuMemRelease", cu::kUnknown);
  check_refusal(memory.release(), PURLIN_CUDA_ERROR, {"cuMemRelease"});
  CHECK(gpu.control.live().mappings == before.mappings);
  CHECK(gpu.control.live().ranges == before.ranges);
}

TEST_CASE("a descriptor is closed on exec and leads to the same memory") {
  FakeGpu gpu;
  const auto owner = gpu.device(0);
  const auto peer = gpu.device(1);
  DeviceMemory memory = std::move(DeviceMemory::create(owner, 4096, "staging")).value();
  const OwnedFd fd = std::move(memory.export_fd()).value();
  CHECK((fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
  const uint64_t bytes = memory.mapped_bytes();
  PeerMapping mapping =
      std::move(PeerMapping::import(peer, {&fd, 1}, {&bytes, 1}, "rank 0")).value();
  CHECK(mapping.address() != memory.address());
  std::memset(memory.data(), 0x5a, 4096);
  CHECK(bytes_at(mapping.address())[4095] == std::byte{0x5a});
}

TEST_CASE("ranks of one process map without descriptors") {
  FakeGpu gpu;
  const FakeLive before = gpu.control.live();
  {
    const auto owner = gpu.device(0);
    DeviceMemory memory = std::move(DeviceMemory::create(owner, 4096, "staging")).value();
    PeerMapping same = std::move(PeerMapping::share(owner, memory, "rank 0")).value();
    PeerMapping other = std::move(PeerMapping::share(gpu.device(1), memory, "rank 0")).value();
    std::memset(memory.data(), 0x11, 16);
    CHECK(bytes_at(same.address())[3] == std::byte{0x11});
    CHECK(bytes_at(other.address())[3] == std::byte{0x11});
    CHECK(gpu.control.calls("cuMemExportToShareableHandle") == 0);
  }
  CHECK(gpu.control.live() == before);
}

TEST_CASE("an owner that lets go first takes nothing from its peers") {
  FakeGpu gpu;
  const auto device = gpu.device();
  const FakeLive before = gpu.control.live();
  DeviceMemory memory = std::move(DeviceMemory::create(device, 4096, "staging")).value();
  PeerMapping mapping = std::move(PeerMapping::share(device, memory, "rank 0")).value();
  std::memset(memory.data(), 0x77, 16);
  CHECK(memory.release().is_ok());
  CHECK(bytes_at(mapping.address())[15] == std::byte{0x77});
  CHECK(mapping.release().is_ok());
  CHECK(gpu.control.live() == before);
}

TEST_CASE("a peer process reads and writes through the descriptor, whoever ends first") {
  FakeGpu gpu;
  const auto device = gpu.device();
  DeviceMemory memory = std::move(DeviceMemory::create(device, 4096, "staging")).value();
  const OwnedFd fd = std::move(memory.export_fd()).value();
  const uint64_t bytes = memory.mapped_bytes();
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    Result<PeerMapping> mapping = PeerMapping::import(device, {&fd, 1}, {&bytes, 1}, "rank 0");
    if (!mapping) _exit(1);
    std::memset(reinterpret_cast<void*>(mapping->address()), 0x3c, 100);
    _exit(0);  // without releasing, as a process that is killed
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(bytes_at(memory.address())[99] == std::byte{0x3c});
  CHECK(bytes_at(memory.address())[100] == std::byte{0});
}

TEST_CASE("peers that cannot reach the memory are told whose and where") {
  FakeSetup setup;
  setup.peer_access = false;
  FakeGpu gpu(setup);
  const auto owner = gpu.device(0);
  const auto peer = gpu.device(1);
  DeviceMemory memory = std::move(DeviceMemory::create(owner, 4096, "staging")).value();
  const FakeLive before = gpu.control.live();
  check_refusal(PeerMapping::share(peer, memory, "rank 5").status(), PURLIN_CUDA_ERROR,
                {"memory of rank 5", "GPU 1", "cuMemSetAccess"});
  CHECK(gpu.control.live() == before);
}

TEST_CASE("descriptors and pieces must match, and a bad one leaves nothing mapped") {
  FakeGpu gpu;
  const auto device = gpu.device();
  DeviceMemory memory = std::move(DeviceMemory::create(device, 4096, "staging")).value();
  const uint64_t sizes[] = {kGranularity, kGranularity};
  std::vector<OwnedFd> fds;
  fds.push_back(std::move(memory.export_fd()).value());
  const FakeLive before = gpu.control.live();
  check_refusal(PeerMapping::import(device, fds, sizes, "rank 1").status(), PURLIN_INTERNAL,
                {"1 descriptors arrived for 2 pieces"});
  fds.emplace_back();  // no descriptor
  check_refusal(PeerMapping::import(device, fds, sizes, "rank 1").status(), PURLIN_CUDA_ERROR,
                {"rank 1", "cuMemImportFromShareableHandle"});
  CHECK(gpu.control.live() == before);
}

TEST_CASE("many cycles of staging and mapping leave nothing behind") {
  FakeGpu gpu;
  const auto device = gpu.device();
  const FakeLive before = gpu.control.live();
  const OwnedFd probe(::dup(0));
  const int lowest = probe.get();
  for (int i = 0; i < (test::is_sample() ? 100 : 1000); ++i) {
    DeviceMemory memory = std::move(DeviceMemory::create(device, 64, "staging")).value();
    const OwnedFd fd = std::move(memory.export_fd()).value();
    const uint64_t bytes = memory.mapped_bytes();
    const auto mapping = PeerMapping::import(device, {&fd, 1}, {&bytes, 1}, "rank 0");
    REQUIRE(mapping.is_ok());
  }
  CHECK(gpu.control.live() == before);
  const OwnedFd after(::dup(0));
  CHECK(after.get() == lowest + 1);
}

TEST_CASE("memory for the application is found by its address, and freed once") {
  FakeGpu gpu;
  const auto device = gpu.device();
  const FakeLive before = gpu.control.live();
  void* const block = allocate_user_memory(device, 1000).value();
  check_refusal(free_user_memory(static_cast<std::byte*>(block) + 1), PURLIN_INVALID_ARGUMENT,
                {"not the start of a block"});
  CHECK(free_user_memory(block).is_ok());
  check_refusal(free_user_memory(block), PURLIN_INVALID_ARGUMENT, {"freed before"});
  CHECK(gpu.control.live() == before);
}

}  // namespace
}  // namespace purlin
