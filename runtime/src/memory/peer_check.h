// Proof that peers reach each other's memory: each writes a pattern, the owner reads it back.
//
// Systems exist where the driver maps a peer's memory and accesses are lost or redirected (an IOMMU
// in the way); asking the driver does not find them. The steps, for every rank, with a barrier of
// all ranks between them: write_peer_marks; check_peer_marks; clear_peer_marks.
#pragma once

#include <cstdint>
#include <span>

#include "device/cuda_device.h"

namespace purlin {

// Bytes of one mark; the region of a rank holds one for each rank, in rank order.
inline constexpr uint64_t kPeerMarkBytes = 64;

// Writes this rank's mark into every peer's region. regions[p] is the address of rank p's region as
// mapped for `device`; `nonce` is the same on all ranks and differs between communicators.
Status write_peer_marks(const std::shared_ptr<const CudaDevice>& device, int rank, uint64_t nonce,
                        std::span<const cu::DevicePtr> regions);

// Reads this rank's own region and compares. PURLIN_UNSUPPORTED names the first peer whose writes
// did not arrive, both devices' names (described[p]) and what to do.
Status check_peer_marks(const std::shared_ptr<const CudaDevice>& device, int rank, uint64_t nonce,
                        std::span<const cu::DevicePtr> regions,
                        std::span<const std::string> described);

// Zeroes this rank's own region.
Status clear_peer_marks(const std::shared_ptr<const CudaDevice>& device, int rank,
                        std::span<const cu::DevicePtr> regions);

}  // namespace purlin
