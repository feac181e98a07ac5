#include "snac/host_pair_env.h"

namespace purlin::snac {

StopRecord HostPairEnv::record_at(StopKind kind, Site site) {
  StopRecord record;
  record.kind = kind;
  record.rank = p_.rank;
  record.peer = site.peer;
  record.step = site.step;
  record.epoch = site_.unit;
  record.chunk = site.chunk;
  record.expected_call = site_.descriptor;
  record.found_call = found_call_;
  return record;
}

// A peer that is in the collective after this launch waits there for us: what we wait for will
// never come. Calls of a communicator are carried out in order, so all that the peer sent before is
// here.
StopKind HostPairEnv::in_vain(u32 peer, u64 waited_ns) {
  if (waited_ns > kRefusalGraceNs &&
      __atomic_load_n(&control(peer)->refused, __ATOMIC_ACQUIRE) == next_epoch_)
    return StopKind::kRefused;
  const auto* header = reinterpret_cast<const Header*>(p_.peers[p_.rank] + p_.map.headers) +
                       (half_of(next_epoch_) * p_.nranks + peer);
  u64 call = 0;
  if (tag_epoch(read_packet(&header->call, &call)) != next_epoch_) return StopKind::kNone;
  found_call_ = call;
  return StopKind::kMismatch;
}

}  // namespace purlin::snac
