#include "device/private_stream.h"

#include <utility>

namespace purlin {

Result<PrivateStream> PrivateStream::create(std::shared_ptr<const CudaDevice> device) {
  const ContextScope scope(*device);
  PURLIN_RETURN_IF_ERROR(scope.status());
  cu::Stream stream = nullptr;
  PURLIN_RETURN_IF_ERROR(device->api().stream_create(&stream, cu::kStreamNonBlocking));
  return PrivateStream(std::move(device), stream);
}

PrivateStream::PrivateStream(PrivateStream&& other) noexcept
    : device_(std::move(other.device_)), stream_(std::exchange(other.stream_, nullptr)) {}

PrivateStream& PrivateStream::operator=(PrivateStream&& other) noexcept {
  if (this != &other) {
    destroy();
    device_ = std::move(other.device_);
    stream_ = std::exchange(other.stream_, nullptr);
  }
  return *this;
}

PrivateStream::~PrivateStream() { destroy(); }

void PrivateStream::destroy() {
  if (stream_ == nullptr) return;
  const ContextScope scope(*device_);
  if (scope.status().is_ok()) device_->api().raw().stream_destroy(stream_);
  stream_ = nullptr;
}

Status PrivateStream::synchronize() const {
  // Waiting for another stream is among the calls that would break a capture of another thread.
  const RelaxedCaptureScope relaxed(device_->api());
  return device_->api().stream_synchronize(stream_);
}

}  // namespace purlin
