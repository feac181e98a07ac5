#include "device/host_words.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace purlin {

Result<HostWords> HostWords::create(std::shared_ptr<const CudaDevice> device, uint64_t bytes) {
  const DriverApi& api = device->api();
  const RelaxedCaptureScope relaxed(api);
  const ContextScope scope(*device);
  PURLIN_RETURN_IF_ERROR(scope.status());
  void* host = nullptr;
  PURLIN_RETURN_IF_ERROR(
      api.mem_host_alloc(&host, bytes, cu::kHostAllocPortable | cu::kHostAllocDeviceMap)
          .with_context(
              fmt::format("{} bytes of page-locked memory for {}", bytes, device->describe())));
  std::memset(host, 0, bytes);
  HostWords words(std::move(device), host, bytes);
  PURLIN_RETURN_IF_ERROR(api.mem_host_get_device_pointer(&words.device_address_, host, 0));
  return words;
}

HostWords::HostWords(HostWords&& other) noexcept
    : device_(std::move(other.device_)),
      host_(std::exchange(other.host_, nullptr)),
      device_address_(std::exchange(other.device_address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)) {}

HostWords& HostWords::operator=(HostWords&& other) noexcept {
  if (this != &other) {
    destroy();
    device_ = std::move(other.device_);
    host_ = std::exchange(other.host_, nullptr);
    device_address_ = std::exchange(other.device_address_, 0);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

HostWords::~HostWords() { destroy(); }

void HostWords::destroy() {
  if (host_ == nullptr) return;
  const RelaxedCaptureScope relaxed(device_->api());
  const ContextScope scope(*device_);
  if (scope.status().is_ok()) device_->api().raw().mem_free_host(host_);
  host_ = nullptr;
}

Result<WordWriter> WordWriter::create(std::shared_ptr<const CudaDevice> device) {
  Result<HostWords> source = HostWords::create(device, kInFlight * sizeof(uint64_t));
  if (!source) return source.status();
  Result<PrivateStream> stream = PrivateStream::create(std::move(device));
  if (!stream) return stream.status();
  return WordWriter(std::move(stream).value(), std::move(source).value());
}

Status WordWriter::write(cu::DevicePtr address, uint64_t value) {
  if (used_ == kInFlight) PURLIN_RETURN_IF_ERROR(flush());
  uint64_t* const slot = static_cast<uint64_t*>(source_.host()) + used_++;
  *slot = value;
  const ContextScope scope(stream_.device());
  PURLIN_RETURN_IF_ERROR(scope.status());
  return stream_.device().api().memcpy_htod_async(address, slot, sizeof(value), stream_.get());
}

Status WordWriter::flush() {
  PURLIN_RETURN_IF_ERROR(stream_.synchronize());
  used_ = 0;
  return {};
}

}  // namespace purlin
