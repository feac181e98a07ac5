#include "device/peer_link.h"

#include <cstring>

namespace purlin {

Result<PeerLink> link_between(const DriverApi& api, int from, int to) {
  if (from == to) return PeerLink::kSameDevice;
  cu::Device ends[2] = {};
  PURLIN_RETURN_IF_ERROR(api.device_get(&ends[0], from));
  PURLIN_RETURN_IF_ERROR(api.device_get(&ends[1], to));
  int access = 0;
  PURLIN_RETURN_IF_ERROR(api.device_can_access_peer(&access, ends[0], ends[1]));
  if (access == 0) return PeerLink::kUnreachable;
  int atomics = 0;
  PURLIN_RETURN_IF_ERROR(
      api.device_get_p2p_attribute(&atomics, cu::kNativeAtomicSupported, ends[0], ends[1]));
  return atomics != 0 ? PeerLink::kNvlink : PeerLink::kPcie;
}

Result<PeerLink> link_to(const DriverApi& api, int from, const cu::Uuid& uuid) {
  int count = 0;
  PURLIN_RETURN_IF_ERROR(api.device_get_count(&count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cu::Device device = 0;
    cu::Uuid candidate = {};
    PURLIN_RETURN_IF_ERROR(api.device_get(&device, ordinal));
    PURLIN_RETURN_IF_ERROR(api.device_get_uuid(&candidate, device));
    if (std::memcmp(&candidate, &uuid, sizeof(uuid)) == 0) return link_between(api, from, ordinal);
  }
  return PeerLink::kUnknown;
}

Result<bool> has_nvlink_peer(const DriverApi& api, int ordinal) {
  int count = 0;
  PURLIN_RETURN_IF_ERROR(api.device_get_count(&count));
  for (int peer = 0; peer < count; ++peer) {
    if (peer == ordinal) continue;
    const Result<PeerLink> link = link_between(api, ordinal, peer);
    if (!link) return link.status();
    if (link.value() == PeerLink::kNvlink) return true;
  }
  return false;
}

}  // namespace purlin
