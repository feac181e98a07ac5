// The device layer on a real GPU: memory, mapping, words, origins.
#include "device/host_words.h"
#include "device/launch.h"
#include "gpu/real_gpu.h"
#include "memory/buffer_origin.h"
#include "memory/peer_buffer.h"
#include "memory/peer_check.h"
#include "memory/peer_mapping.h"

namespace purlin {
namespace {

using test::real_gpu;
using test::RealGpu;

TEST_CASE("a GPU has an identity and plausible facts") {
  const std::optional<RealGpu> gpu = real_gpu();
  if (!gpu) return;
  CHECK(gpu->device->uuid_text().size() == 36);
  CHECK(gpu->device->architecture() >= 75);
  CHECK(gpu->device->multiprocessors() > 0);
  CHECK(gpu->device->facts().shared_bytes_per_block >= 48 * 1024);
}

TEST_CASE("device memory is zero and reached through every mapping") {
  const std::optional<RealGpu> gpu = real_gpu();
  if (!gpu) return;
  DeviceMemory memory = std::move(DeviceMemory::create(gpu->device, 3 << 20, "test")).value();
  const OwnedFd fd = std::move(memory.export_fd()).value();
  const uint64_t bytes = memory.mapped_bytes();
  PeerMapping imported =
      std::move(PeerMapping::import(gpu->device, {&fd, 1}, {&bytes, 1}, "rank 1")).value();
  PeerMapping shared = std::move(PeerMapping::share(gpu->device, memory, "rank 2")).value();
  PrivateStream stream = std::move(PrivateStream::create(gpu->device)).value();
  const ContextScope scope(*gpu->device);
  uint64_t value = 1;
  REQUIRE(
      gpu->api->memcpy_dtoh_async(&value, imported.address() + bytes - 8, 8, stream.get()).is_ok());
  REQUIRE(stream.synchronize().is_ok());
  CHECK(value == 0);
  const uint64_t written = 0x1122334455667788;
  REQUIRE(gpu->api->memcpy_htod_async(imported.address() + 8, &written, 8, stream.get()).is_ok());
  REQUIRE(gpu->api->memcpy_dtoh_async(&value, shared.address() + 8, 8, stream.get()).is_ok());
  REQUIRE(stream.synchronize().is_ok());
  CHECK(value == written);
  // The owner lets go; the mapping keeps the memory.
  REQUIRE(memory.release().is_ok());
  value = 0;
  REQUIRE(gpu->api->memcpy_dtoh_async(&value, shared.address() + 8, 8, stream.get()).is_ok());
  REQUIRE(stream.synchronize().is_ok());
  CHECK(value == written);
}

// Marks between two ranks on devices `a` and `b`.
void check_marks(const RealGpu& a, const RealGpu& b) {
  const std::shared_ptr<const CudaDevice> devices[] = {a.device, b.device};
  std::vector<DeviceMemory> memories;
  for (const auto& device : devices) {
    memories.push_back(std::move(DeviceMemory::create(device, 4096, "test")).value());
  }
  Result<PeerMapping> second = PeerMapping::share(devices[0], memories[1], "rank 1");
  Result<PeerMapping> first = PeerMapping::share(devices[1], memories[0], "rank 0");
  REQUIRE_MESSAGE(second.is_ok(), second.status().message());
  REQUIRE_MESSAGE(first.is_ok(), first.status().message());
  const std::vector<cu::DevicePtr> regions[] = {{memories[0].address(), second->address()},
                                                {first->address(), memories[1].address()}};
  const std::vector<std::string> described = {devices[0]->describe(), devices[1]->describe()};
  for (int rank : {0, 1}) {
    REQUIRE(write_peer_marks(devices[rank], rank, 42, regions[rank]).is_ok());
  }
  for (int rank : {0, 1}) {
    const Status status = check_peer_marks(devices[rank], rank, 42, regions[rank], described);
    CHECK_MESSAGE(status.is_ok(), status.message());
  }
}

TEST_CASE("two ranks on one GPU reach each other's memory") {
  const std::optional<RealGpu> gpu = real_gpu();
  if (gpu) check_marks(*gpu, *gpu);
}

TEST_CASE("two GPUs reach each other's memory") {
  const std::optional<RealGpu> gpu = real_gpu(0);
  const std::optional<RealGpu> peer = gpu ? real_gpu(1) : std::nullopt;
  if (gpu && peer) check_marks(*gpu, *peer);
}

TEST_CASE("a host thread's word reaches a running kernel, in device and in host memory") {
  const std::optional<RealGpu> gpu = real_gpu();
  if (!gpu) return;
  const auto program = gpu->program("await_word");
  DeviceMemory memory = std::move(DeviceMemory::create(gpu->device, 4096, "test")).value();
  HostWords words = std::move(HostWords::create(gpu->device, 64)).value();
  WordWriter writer = std::move(WordWriter::create(gpu->device)).value();
  PrivateStream stream = std::move(PrivateStream::create(gpu->device)).value();
  cu::DevicePtr awaited = memory.address();
  cu::DevicePtr out = words.device_address() + 8;
  long long cycles = 20'000'000'000;
  void* parameters[] = {&awaited, &out, &cycles};
  LaunchPlan plan;
  plan.program = program.get();
  plan.grid = 1;
  plan.parameters = parameters;
  REQUIRE(launch(plan, stream.get()).is_ok());
  REQUIRE(writer.write(memory.address(), 77).is_ok());
  REQUIRE(stream.synchronize().is_ok());
  CHECK(static_cast<volatile uint64_t*>(words.host())[1] == 77);
  awaited = words.device_address();
  REQUIRE(launch(plan, stream.get()).is_ok());
  *static_cast<volatile uint64_t*>(words.host()) = 78;
  REQUIRE(stream.synchronize().is_ok());
  CHECK(static_cast<volatile uint64_t*>(words.host())[1] == 78);
}

TEST_CASE("plain, virtual, pinned and host memory are told apart") {
  const std::optional<RealGpu> gpu = real_gpu();
  if (!gpu) return;
  const ContextScope scope(*gpu->device);
  cu::DevicePtr plain = 0;
  REQUIRE(gpu->api->mem_alloc(&plain, 100000).is_ok());
  void* const inside = reinterpret_cast<void*>(plain + 512);
  CHECK(origin_of(*gpu->device, inside, 1000).value().kind == BufferKind::kPlain);
  CHECK(origin_of(*gpu->device, inside, uint64_t{1} << 40).status().code() ==
        PURLIN_INVALID_ARGUMENT);
  BufferOffer offer = std::move(BufferOffer::make(gpu->device, inside, 1000)).value();
  CHECK(offer.record().form == ShareForm::kLegacy);
  CHECK(offer.check_unchanged(0, 1000).is_ok());
  REQUIRE(gpu->api->mem_free(plain).is_ok());

  DeviceMemory memory = std::move(DeviceMemory::create(gpu->device, 5 << 20, "test")).value();
  BufferOffer by_fd = std::move(BufferOffer::make(gpu->device, memory.data(), 5 << 20)).value();
  CHECK(by_fd.record().form == ShareForm::kDescriptors);
  CHECK(by_fd.check_unchanged(0, 5 << 20).is_ok());
  const auto fds = std::move(by_fd.export_fds()).value();
  const auto opened = PeerBuffer::open(gpu->device, by_fd.record(), fds, "rank 0");
  CHECK_MESSAGE(opened.is_ok(), opened.status().message());

  HostWords words = std::move(HostWords::create(gpu->device, 64)).value();
  CHECK(origin_of(*gpu->device, words.host(), 64).value().kind == BufferKind::kPinnedHost);
  std::vector<char> host(64);
  CHECK(origin_of(*gpu->device, host.data(), 64).value().kind == BufferKind::kHost);
}

}  // namespace
}  // namespace purlin
