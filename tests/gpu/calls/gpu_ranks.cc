#include "gpu_ranks.h"

#include <doctest/doctest.h>

#include <cstring>

#include "device/connections.h"
#include "level.h"

namespace purlin::test {
namespace {

void need(const Status& status) { REQUIRE_MESSAGE(status.is_ok(), status.message()); }

}  // namespace

DeviceBytes::DeviceBytes(std::shared_ptr<const CudaDevice> device, uint64_t bytes)
    : device_(std::move(device)), bytes_(bytes) {
  const ContextScope scope(*device_);
  need(device_->api().mem_alloc(&address_, bytes_ == 0 ? 1 : bytes_));
}

DeviceBytes::~DeviceBytes() {
  const ContextScope scope(*device_);
  device_->api().raw().mem_free(address_);
}

void DeviceBytes::write(uint64_t at, const void* from, uint64_t bytes, cu::Stream stream) {
  const ContextScope scope(*device_);
  need(device_->api().memcpy_htod_async(address_ + at, from, bytes, stream));
  need(device_->api().stream_synchronize(stream));
}

void DeviceBytes::read(uint64_t at, void* to, uint64_t bytes, cu::Stream stream) const {
  const ContextScope scope(*device_);
  need(device_->api().memcpy_dtoh_async(to, address_ + at, bytes, stream));
  need(device_->api().stream_synchronize(stream));
}

std::optional<GpuRanks> GpuRanks::make(int n, const std::string& policy, bool spread,
                                       unsigned timeout_ms) {
#ifndef PURLIN_HAVE_CUDA
  static_cast<void>(n);
  static_cast<void>(policy);
  static_cast<void>(spread);
  static_cast<void>(timeout_ms);
  skip("gpu: this build has no CUDA toolkit");
  return std::nullopt;
#else
  raise_connections(2);
  const Result<const DriverApi*> api = driver();
  if (!api) {
    skip("gpu: " + api.status().message());
    return std::nullopt;
  }
  int visible = 0;
  need(api.value()->device_get_count(&visible));
  if (spread && visible < n) {
    skip("gpu: " + std::to_string(n) + " GPUs needed, " + std::to_string(visible) + " visible");
    return std::nullopt;
  }
  GpuRanks made;
  std::vector<int> ordinals;
  for (int r = 0; r < n; ++r) {
    ordinals.push_back(spread ? r : 0);
    auto device = CudaDevice::open(*api.value(), ordinals.back());
    need(device.status());
    made.devices_.push_back(*device);
    auto stream = PrivateStream::create(*device);
    need(stream.status());
    made.streams_.push_back(std::move(*stream));
    made.arenas_.push_back(std::make_unique<DeviceBytes>(*device, kArenaBytes));
  }
  made.ranks_ = std::make_unique<Ranks>(ordinals, policy, timeout_ms);
  REQUIRE_MESSAGE(made.ranks_->creation_error().empty(), made.ranks_->creation_error());
  return made;
#endif
}

void GpuRanks::each(const std::function<void(int rank)>& body) const {
  ranks_->each([&](int r) {
    const ContextScope scope(*device(r));
    body(r);
  });
}

void GpuRanks::synchronize(int rank) const {
  const Status waited = device(rank)->api().stream_synchronize(stream(rank));
  REQUIRE_MESSAGE(waited.is_ok(), waited.message());
}

Carrier GpuRanks::carrier(int rank, int replays, const Issue& issue) const {
  return [this, rank, replays, issue](purlin_call call,
                               std::span<const std::span<unsigned char>> memory) -> std::string {
    std::vector<uint64_t> places;  // in the arena
    const auto moved = [&](const void* address) -> unsigned char* {
      for (size_t i = 0; i < memory.size(); ++i) {
        const auto* at = static_cast<const unsigned char*>(address);
        if (at >= memory[i].data() && at <= memory[i].data() + memory[i].size())
          return arena(rank).data() + places[i] + (at - memory[i].data());
      }
      return nullptr;
    };
    uint64_t end = 0;
    for (const auto& one : memory) {
      places.push_back(end);
      end += (one.size() + 511) / 256 * 256;
      REQUIRE(end <= kArenaBytes);
      arena(rank).write(places.back(), one.data(), one.size(), stream(rank));
    }
    call.send = moved(call.send);
    call.recv = moved(call.recv);
    const auto make = [&]() -> std::string {
      const purlin_status status = issue ? issue(call) : purlin_run(&call, comm(rank), stream(rank));
      return status == PURLIN_OK ? "" : purlin_last_error();
    };
    if (replays == 0) {
      if (std::string wrong = make(); !wrong.empty()) return wrong;
    } else {
      const Replay graph(*device(rank), stream(rank), make);
      if (!graph.error().empty()) return graph.error();
      // Ranks share a GPU: none may still make its graph while another's kernel waits for it.
      if (purlin_barrier(comm(rank), stream(rank)) != PURLIN_OK) return purlin_last_error();
      synchronize(rank);
      for (int i = 0; i < replays; ++i) graph.launch(stream(rank));
      synchronize(rank);
    }
    synchronize(rank);
    if (purlin_comm_async_error(comm(rank)) != PURLIN_OK) return purlin_comm_last_error(comm(rank));
    for (size_t i = 0; i < memory.size(); ++i)
      arena(rank).read(places[i], memory[i].data(), memory[i].size(), stream(rank));
    return "";
  };
}

Replay::Replay(const CudaDevice& device, cu::Stream stream,
               const std::function<std::string()>& work)
    : api_(device.api()) {
  Status status = api_.stream_begin_capture(stream, cu::kCaptureThreadLocal);
  if (status.is_ok()) {
    error_ = work();
    status = api_.stream_end_capture(stream, &graph_);
  }
  if (status.is_ok() && error_.empty()) status = api_.graph_instantiate(&executable_, graph_, 0);
  if (status.is_ok() && error_.empty()) status = api_.graph_upload(executable_, stream);
  if (status.is_ok()) status = api_.stream_synchronize(stream);
  if (error_.empty() && !status.is_ok()) error_ = status.message();
}

Replay::~Replay() {
  if (executable_ != nullptr) api_.raw().graph_exec_destroy(executable_);
  if (graph_ != nullptr) api_.raw().graph_destroy(graph_);
}

void Replay::launch(cu::Stream stream) const {
  const Status launched = api_.graph_launch(executable_, stream);
  CHECK_MESSAGE(launched.is_ok(), launched.message());  // on a thread of a rank
}

}  // namespace purlin::test
