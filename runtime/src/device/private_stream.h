// A stream of Purlin's own, for copies and memsets that must not wait for the application's work.
#pragma once

#include <memory>

#include "device/context_scope.h"

namespace purlin {

// Non-blocking with respect to the default stream. Owns its stream; movable; not thread-safe.
class PrivateStream {
 public:
  static Result<PrivateStream> create(std::shared_ptr<const CudaDevice> device);
  PrivateStream(PrivateStream&& other) noexcept;
  PrivateStream& operator=(PrivateStream&& other) noexcept;
  ~PrivateStream();

  cu::Stream get() const { return stream_; }
  const CudaDevice& device() const { return *device_; }
  // Waits for everything enqueued so far.
  Status synchronize() const;

 private:
  PrivateStream(std::shared_ptr<const CudaDevice> device, cu::Stream stream)
      : device_(std::move(device)), stream_(stream) {}
  void destroy();

  std::shared_ptr<const CudaDevice> device_;
  cu::Stream stream_ = nullptr;
};

}  // namespace purlin
