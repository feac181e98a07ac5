// Another rank's device memory, mapped for this rank's device.
#pragma once

#include <span>

#include "memory/device_memory.h"

namespace purlin {

// Keeps the physical memory alive even if its owner lets go first. Movable, not thread-safe.
// Release it only when no kernel of this rank that uses it runs any more.
class PeerMapping {
 public:
  PeerMapping() = default;
  // From a peer's descriptors, one for each physical piece, with the pieces' mapped sizes. The
  // descriptors are no longer needed after. `who` ("rank 3") names the owner in messages.
  // PURLIN_CUDA_ERROR / PURLIN_UNSUPPORTED: this device cannot reach that memory.
  static Result<PeerMapping> import(std::shared_ptr<const CudaDevice> device,
                                    std::span<const OwnedFd> fds,
                                    std::span<const uint64_t> piece_bytes, const std::string& who);
  // Of a rank in the same process, on the same or another device: no descriptor is used.
  static Result<PeerMapping> share(std::shared_ptr<const CudaDevice> device,
                                   const DeviceMemory& memory, const std::string& who);

  cu::DevicePtr address() const { return range_.address(); }
  uint64_t mapped_bytes() const { return range_.bytes(); }
  explicit operator bool() const { return static_cast<bool>(range_); }
  Status release() { return range_.release(); }

 private:
  explicit PeerMapping(MappedRange range) : range_(std::move(range)) {}
  MappedRange range_;
};

}  // namespace purlin
