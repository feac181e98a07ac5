// Sharing a buffer of the application with the other ranks, for zero-copy: the peers' side.
#pragma once

#include "memory/peer_mapping.h"
#include "memory/registration.h"

namespace purlin {

class LegacyOpening;

// A peer's buffer as this rank's device reaches it. Release (destroy) it only when no kernel of
// this rank that uses it runs any more. Movable, not thread-safe.
class PeerBuffer {
 public:
  PeerBuffer() = default;
  // `record` of a shareable offer; `fds`: the owner's descriptors, in order (empty unless
  // kDescriptors), no longer needed after. `who` ("rank 3") names the owner in messages.
  // PURLIN_CUDA_ERROR, PURLIN_UNSUPPORTED: this device cannot reach the buffer; the ranks then
  // agree to use staging.
  static Result<PeerBuffer> open(std::shared_ptr<const CudaDevice> device,
                                 const BufferRecord& record, std::span<const OwnedFd> fds,
                                 const std::string& who);
  cu::DevicePtr address() const { return address_; }

 private:
  Status open_descriptors(std::shared_ptr<const CudaDevice> device, const BufferRecord& record,
                          std::span<const OwnedFd> fds, const std::string& who);
  Status open_legacy(std::shared_ptr<const CudaDevice> device, const BufferRecord& record);

  PeerMapping mapping_;
  std::shared_ptr<LegacyOpening> legacy_;
  cu::DevicePtr address_ = 0;
};

}  // namespace purlin
