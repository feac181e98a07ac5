#include "memory/registration.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "gpu/fake_gpu.h"
#include "memory/device_memory.h"
#include "memory/peer_buffer.h"

namespace purlin {
namespace {

using test::check_refusal;
using test::FakeGpu;
using test::FakeLive;
using test::FakeSetup;

constexpr uint64_t kPiece = 2 << 20;

// Virtual memory of a framework: pieces mapped one behind the other.
struct Segments {
  Segments(FakeGpu& gpu, const CudaDevice& device, size_t pieces, bool exportable = true)
      : api(*gpu.api), bytes(pieces * kPiece) {
    prop.type = cu::kAllocationPinned;
    prop.requested_handle_types = exportable ? cu::kHandleTypePosixFd : 0;
    prop.location = {cu::kLocationDevice, device.handle()};
    REQUIRE(api.mem_address_reserve(&base, bytes, 0, 0, 0).is_ok());
    for (size_t i = 0; i < pieces; ++i) {
      handles.push_back(0);
      REQUIRE(api.mem_create(&handles.back(), kPiece, &prop, 0).is_ok());
      REQUIRE(api.mem_map(base + i * kPiece, kPiece, 0, handles.back(), 0).is_ok());
    }
    const cu::MemAccessDesc access = {{cu::kLocationDevice, device.handle()}, cu::kAccessReadWrite};
    REQUIRE(api.mem_set_access(base, bytes, &access, 1).is_ok());
  }
  // Other memory at a piece's address.
  void replace(size_t i) {
    REQUIRE(api.mem_unmap(base + i * kPiece, kPiece).is_ok());
    REQUIRE(api.mem_release(handles[i]).is_ok());
    REQUIRE(api.mem_create(&handles[i], kPiece, &prop, 0).is_ok());
    REQUIRE(api.mem_map(base + i * kPiece, kPiece, 0, handles[i], 0).is_ok());
  }
  void free_pieces() {
    for (size_t i = 0; i < handles.size(); ++i) {
      REQUIRE(api.mem_unmap(base + i * kPiece, kPiece).is_ok());
      REQUIRE(api.mem_release(handles[i]).is_ok());
    }
    handles.clear();
  }
  void* at(uint64_t offset) const { return reinterpret_cast<void*>(base + offset); }

  const DriverApi& api;
  uint64_t bytes;
  cu::MemAllocationProp prop = {};
  cu::DevicePtr base = 0;
  std::vector<cu::MemHandle> handles;
};

cu::DevicePtr plain_memory(FakeGpu& gpu, const CudaDevice& device, uint64_t bytes) {
  const ContextScope scope(device);
  cu::DevicePtr memory = 0;
  REQUIRE(gpu.api->mem_alloc(&memory, bytes).is_ok());
  return memory;
}

BufferOffer offer_of(const std::shared_ptr<const CudaDevice>& device, void* address,
                     uint64_t bytes) {
  Result<BufferOffer> offer = BufferOffer::make(device, address, bytes);
  REQUIRE_MESSAGE(offer.is_ok(), offer.status().message());
  return std::move(offer).value();
}

TEST_CASE("virtual memory is offered by descriptors, also across pieces") {
  FakeGpu gpu;
  const auto device = gpu.device(0);
  const auto peer = gpu.device(1);
  const FakeLive before = gpu.control.live();
  Segments segments(gpu, *device, 3);
  const FakeLive mapped = gpu.control.live();
  {
    const uint64_t offset = kPiece - 100;
    BufferOffer offer = offer_of(device, segments.at(offset), kPiece + 200);
    CHECK(offer.record().form == ShareForm::kDescriptors);
    CHECK(offer.record().piece_count == 3);
    CHECK(offer.record().offset == offset);
    const std::vector<OwnedFd> fds = std::move(offer.export_fds()).value();
    REQUIRE(fds.size() == 3);
    const PeerBuffer buffer =
        std::move(PeerBuffer::open(peer, offer.record(), fds, "rank 0")).value();
    auto* seen = reinterpret_cast<unsigned char*>(buffer.address());
    for (uint64_t i = 0; i < kPiece + 200; i += 97) {
      static_cast<unsigned char*>(segments.at(offset))[i] = static_cast<unsigned char>(i % 251);
      REQUIRE(seen[i] == i % 251);
    }
  }
  CHECK(gpu.control.live() == mapped);
  segments.free_pieces();
  REQUIRE(gpu.api->mem_address_free(segments.base, segments.bytes).is_ok());
  CHECK(gpu.control.live() == before);
}

TEST_CASE("memory of purlin_mem_alloc is offered by one descriptor") {
  FakeGpu gpu;
  const auto device = gpu.device();
  const DeviceMemory memory = std::move(DeviceMemory::create(device, 10000, "user")).value();
  const BufferOffer offer = offer_of(device, static_cast<std::byte*>(memory.data()) + 16, 512);
  CHECK(offer.shareable());
  CHECK(offer.record().piece_count == 1);
  CHECK(offer.record().offset == 16);
  CHECK(offer.check_unchanged(0, 512).is_ok());
}

TEST_CASE("memory that cannot be shared says why, and is no error") {
  FakeGpu gpu;
  const auto device = gpu.device();
  Segments closed(gpu, *device, 1, false);
  void* const pool = gpu.control.make_pool_memory(4096);
  void* const managed = gpu.control.make_managed_memory(4096);
  const ContextScope scope(*device);
  void* pinned = nullptr;
  REQUIRE(gpu.api->mem_host_alloc(&pinned, 4096, 0).is_ok());
  std::vector<std::byte> host(4096);
  const struct {
    void* address;
    BufferKind kind;
    const char* reason;
  } rows[] = {{closed.at(0), BufferKind::kVirtual, "without export"},
              {pool, BufferKind::kPool, "stream-ordered pool"},
              {managed, BufferKind::kManaged, "managed memory"},
              {pinned, BufferKind::kPinnedHost, "page-locked"},
              {host.data(), BufferKind::kHost, "does not know"}};
  for (const auto& row : rows) {
    const BufferOrigin origin = origin_of(*device, row.address, 4096).value();
    CHECK(origin.kind == row.kind);
    const BufferOffer offer = offer_of(device, row.address, 4096);
    CHECK_FALSE(offer.shareable());
    CHECK(std::string(offer.record().why_not).find(row.reason) != std::string::npos);
    CHECK(offer.export_fds().value().empty());
    check_refusal(PeerBuffer::open(device, offer.record(), {}, "rank 2").status(),
                  PURLIN_UNSUPPORTED, {"registered buffer of rank 2", row.reason, "staging"});
  }
  gpu.control.free_special_memory(pool);
  gpu.control.free_special_memory(managed);
}

TEST_CASE("a buffer beyond its memory or on another device is refused") {
  FakeGpu gpu;
  const auto device = gpu.device(0);
  const Segments segments(gpu, *device, 2);
  check_refusal(origin_of(*device, segments.at(kPiece), kPiece + 1).status(),
                PURLIN_INVALID_ARGUMENT, {"not wholly backed", "GPU 0"});
  const cu::DevicePtr plain = plain_memory(gpu, *device, 1000);
  check_refusal(origin_of(*device, reinterpret_cast<void*>(plain + 500), 501).status(),
                PURLIN_INVALID_ARGUMENT, {"501 bytes", "not wholly backed"});
  check_refusal(origin_of(*gpu.device(1), reinterpret_cast<void*>(plain), 8).status(),
                PURLIN_INVALID_ARGUMENT, {"lies on GPU 0", "runs on GPU 1"});
  REQUIRE(gpu.api->mem_free(plain).is_ok());
}

TEST_CASE("too many pieces are declined with the number") {
  FakeGpu gpu;
  const auto device = gpu.device();
  const Segments segments(gpu, *device, BufferRecord::kMaxPieces + 1);
  const BufferOffer offer = offer_of(device, segments.at(0), segments.bytes);
  CHECK_FALSE(offer.shareable());
  CHECK(std::string(offer.record().why_not).find("33 pieces") != std::string::npos);
}

TEST_CASE("a remapped piece is noticed, wherever it lies, by the ranges that it lies under") {
  FakeGpu gpu;
  const auto device = gpu.device();
  for (uint64_t replaced : {0, 1, 2}) {
    Segments segments(gpu, *device, 3);
    const uint64_t before = 100, bytes = 3 * kPiece - 200;
    const BufferOffer offer = offer_of(device, segments.at(before), bytes);
    CHECK(offer.check_unchanged(0, bytes).is_ok());
    segments.replace(replaced);
    check_refusal(offer.check_unchanged(0, bytes), PURLIN_INVALID_USAGE,
                  {"freed or remapped", "GPU 0"});
    const uint64_t begin = replaced == 0 ? 0 : replaced * kPiece - before;
    const uint64_t end = std::min((replaced + 1) * kPiece - before, bytes);
    CHECK_FALSE(offer.check_unchanged(begin, 1).is_ok());
    CHECK_FALSE(offer.check_unchanged(end - 1, 1).is_ok());
    if (begin != 0) {
      CHECK(offer.check_unchanged(0, begin).is_ok());
      CHECK_FALSE(offer.check_unchanged(begin - 1, 2).is_ok());
    }
    if (end != bytes) {
      CHECK(offer.check_unchanged(end, bytes - end).is_ok());
      CHECK_FALSE(offer.check_unchanged(end - 1, 2).is_ok());
    }
    segments.free_pieces();
  }
}

TEST_CASE("a freed plain buffer is noticed, by one question of the driver") {
  FakeGpu gpu;
  const auto device = gpu.device();
  const cu::DevicePtr plain = plain_memory(gpu, *device, 1000);
  const BufferOffer offer = offer_of(device, reinterpret_cast<void*>(plain), 1000);
  const int asked = gpu.control.calls("cuPointerGetAttributes");
  CHECK(offer.check_unchanged(10, 900).is_ok());
  CHECK(gpu.control.calls("cuPointerGetAttributes") == asked + 1);
  REQUIRE(gpu.api->mem_free(plain).is_ok());
  CHECK_FALSE(offer.check_unchanged(10, 900).is_ok());
}

TEST_CASE("plain memory is reached directly within a process") {
  FakeGpu gpu;
  const auto device = gpu.device(0);
  const cu::DevicePtr plain = plain_memory(gpu, *device, 4096);
  const BufferOffer offer = offer_of(device, reinterpret_cast<void*>(plain + 512), 1024);
  CHECK(offer.record().form == ShareForm::kLegacy);
  CHECK(offer.record().offset == 512);
  CHECK(PeerBuffer::open(device, offer.record(), {}, "rank 0").value().address() == plain + 512);
  CHECK(gpu.control.calls("cuCtxEnablePeerAccess") == 0);
  for (int i = 0; i < 2; ++i) {
    CHECK(PeerBuffer::open(gpu.device(1), offer.record(), {}, "rank 0").value().address() ==
          plain + 512);
  }
  CHECK(gpu.control.calls("cuCtxEnablePeerAccess") == 2);
  CHECK(gpu.control.calls("cuIpcOpenMemHandle") == 0);
}

TEST_CASE("plain memory of another process is opened once for all its buffers") {
  FakeGpu gpu;
  const auto device = gpu.device();
  const cu::DevicePtr plain = plain_memory(gpu, *device, 8192);
  const BufferOffer first = offer_of(device, reinterpret_cast<void*>(plain + 64), 64);
  const BufferOffer second = offer_of(device, reinterpret_cast<void*>(plain + 4096), 64);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    Result<PeerBuffer> a = PeerBuffer::open(device, first.record(), {}, "rank 0");
    Result<PeerBuffer> b = PeerBuffer::open(device, second.record(), {}, "rank 0");
    if (!a || !b) _exit(1);
    if (gpu.control.live().openings != 1) _exit(2);
    std::memset(reinterpret_cast<void*>(a->address()), 0x21, 64);
    std::memset(reinterpret_cast<void*>(b->address()), 0x42, 64);
    *a = PeerBuffer();
    if (gpu.control.live().openings != 1) _exit(3);
    *b = PeerBuffer();
    _exit(gpu.control.live().openings == 0 ? 0 : 4);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(*reinterpret_cast<unsigned char*>(plain + 127) == 0x21);
  CHECK(*reinterpret_cast<unsigned char*>(plain + 128) == 0);
  CHECK(*reinterpret_cast<unsigned char*>(plain + 4096) == 0x42);
}

TEST_CASE("a driver that gives no handle for plain memory leads to staging") {
  FakeSetup setup;
  setup.legacy_handles = false;
  {
    FakeGpu gpu(setup);
    const auto device = gpu.device();
    const cu::DevicePtr plain = plain_memory(gpu, *device, 64);
    CHECK_FALSE(offer_of(device, reinterpret_cast<void*>(plain), 64).shareable());
  }
  FakeGpu gpu;
  const auto device = gpu.device();
  const cu::DevicePtr plain = plain_memory(gpu, *device, 64);
  gpu.control.fail("cuIpcGetMemHandle", cu::kNotSupported);
  const BufferOffer offer = offer_of(device, reinterpret_cast<void*>(plain), 64);
  CHECK(std::string(offer.record().why_not).find("cuIpcGetMemHandle") != std::string::npos);
}

}  // namespace
}  // namespace purlin
