#include "device/host_words.h"

#include <atomic>

#include "gpu/fake_gpu.h"
#include "memory/device_memory.h"

namespace purlin {
namespace {

using test::check_refusal;
using test::FakeGpu;

TEST_CASE("host words are zero, mapped and given back") {
  FakeGpu gpu;
  const auto device = gpu.device();
  {
    HostWords words = std::move(HostWords::create(device, 256)).value();
    for (unsigned i = 0; i < 32; ++i) CHECK(static_cast<uint64_t*>(words.host())[i] == 0);
    CHECK(words.device_address() != 0);
    HostWords moved = std::move(words);
    CHECK(moved.bytes() == 256);
    CHECK(gpu.control.live().pinned == 1);
  }
  CHECK(gpu.control.live().pinned == 0);
  gpu.control.fail("cuMemHostAlloc", cu::kOutOfMemory);
  check_refusal(HostWords::create(device, 4096).status(), PURLIN_OUT_OF_MEMORY,
                {"4096 bytes of page-locked memory", "GPU 0"});
  gpu.control.fail("cuMemHostGetDevicePointer", cu::kUnknown);
  CHECK_FALSE(HostWords::create(device, 64).is_ok());
  CHECK(gpu.control.live().pinned == 0);
}

TEST_CASE("a word writer sets words in device memory, more than fit in flight") {
  FakeGpu gpu;
  const auto device = gpu.device();
  const DeviceMemory memory = std::move(DeviceMemory::create(device, 16384, "words")).value();
  WordWriter writer = std::move(WordWriter::create(device)).value();
  for (uint64_t i = 0; i < 2000; ++i) REQUIRE(writer.write(memory.address() + 8 * i, ~i).is_ok());
  REQUIRE(writer.flush().is_ok());
  const auto* words = static_cast<const uint64_t*>(memory.data());
  for (uint64_t i = 0; i < 2000; ++i) CHECK(words[i] == ~i);
}

TEST_CASE("words are written while another stream is being captured") {
  FakeGpu gpu;
  const auto device = gpu.device();
  const DeviceMemory memory = std::move(DeviceMemory::create(device, 64, "words")).value();
  WordWriter writer = std::move(WordWriter::create(device)).value();
  const cu::Stream stream = gpu.stream(*device);
  REQUIRE(gpu.api->stream_begin_capture(stream, cu::kCaptureGlobal).is_ok());
  CHECK(writer.write(memory.address(), 5).is_ok());
  CHECK(writer.flush().is_ok());
  CHECK(HostWords::create(device, 64).is_ok());
  cu::Graph graph = nullptr;
  CHECK(gpu.api->stream_end_capture(stream, &graph).is_ok());
  CHECK(*static_cast<const uint64_t*>(memory.data()) == 5);
}

}  // namespace
}  // namespace purlin
