// How two GPUs are joined, asked of the driver alone.
#pragma once

#include "device/driver_api.h"

namespace purlin {

// Ordered from the closest to the farthest.
enum class PeerLink {
  kSameDevice,
  kNvlink,
  kPcie,         // peer access, but not over NVLink
  kUnknown,      // the other GPU is not visible to this process: decided by mapping and verifying
  kUnreachable,  // no peer access
};

// True where 16-byte packets with a 64-bit tag may be used: their single-copy atomicity holds on
// one device and over NVLink.
constexpr bool carries_wide_packets(PeerLink link) {
  return link == PeerLink::kSameDevice || link == PeerLink::kNvlink;
}

// The link from one visible ordinal to another. NVLink is recognized by what it alone offers
// between GPUs: peer access with native atomics.
Result<PeerLink> link_between(const DriverApi& api, int from, int to);

// The link from the visible ordinal `from` to the GPU with this UUID; kUnknown if it is not among
// the devices visible to this process.
Result<PeerLink> link_to(const DriverApi& api, int from, const cu::Uuid& uuid);

// Whether some other visible device is joined to this one by NVLink.
Result<bool> has_nvlink_peer(const DriverApi& api, int ordinal);

}  // namespace purlin
