// A plain allocation of another process, opened by the driver's legacy handle.
#pragma once

#include <memory>

#include "memory/registration.h"

namespace purlin {

// The opening of a whole allocation. One per allocation and device in this process, shared by all
// buffers that lie in it, since opening the same allocation twice is an error to some drivers.
class LegacyOpening {
 public:
  // Thread-safe.
  static Result<std::shared_ptr<LegacyOpening>> open(std::shared_ptr<const CudaDevice> device,
                                                     const BufferRecord& record);
  ~LegacyOpening();
  LegacyOpening(const LegacyOpening&) = delete;
  LegacyOpening& operator=(const LegacyOpening&) = delete;

  // Start of the allocation for this device.
  cu::DevicePtr base() const { return base_; }

 private:
  LegacyOpening(std::shared_ptr<const CudaDevice> device, std::string key, cu::DevicePtr base)
      : device_(std::move(device)), key_(std::move(key)), base_(base) {}

  const std::shared_ptr<const CudaDevice> device_;
  const std::string key_;
  const cu::DevicePtr base_;
};

// Lets `device` reach plain allocations of this process on the device with this UUID, for good.
// PURLIN_UNSUPPORTED: that device is not visible here.
Status enable_peer_access(const CudaDevice& device, const cu::Uuid& owner);

}  // namespace purlin
