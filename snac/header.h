// Headers: in every call every rank tells every peer what it is about to do, and hears from every
// peer. That is what lets two staging halves suffice, and what finds ranks that disagree.
#pragma once

#include "snac/flow.h"

namespace purlin::snac {

// Where a wait stands, for the record of a stop.
struct Site {
  u32 peer = 0;
  u32 step = 0;
  u64 chunk = 0;
};

// Sent by the lanes of the first CTA, a peer each, nearest distance first.
template <class Env>
PURLIN_HD void send_headers(Env& env, const CallParams& p, u64 epoch) {
  const Transformation& t = env.transformation();
  const u32 n = env.nranks();
  for (u32 d = 1 + env.lane(); d < n; d += env.lanes()) {
    const u32 peer = (p.rank + d) % n;
    const u64 bytes = send_extent(t, p, 0, peer).bytes;
    const u64 tag = packet_tag(epoch, pair_signature(p.call_hash, bytes));
    Header* header = header_at(p, peer, epoch, p.rank);
    env.send_word(&header->bytes, bytes, tag);
    env.send_word(&header->call, p.descriptor, tag);
    env.ring(peer);
  }
}

// Whether the header of `peer` has arrived. A header that contradicts own call stops the rank:
// `agrees` is then false and the record written.
template <class Env>
PURLIN_HD bool header_arrived(Env& env, const CallParams& p, u64 epoch, u32 peer, bool* agrees) {
  const Header* header = header_at(p, p.rank, epoch, peer);
  u64 call = 0;
  u64 bytes = 0;
  const u64 tag = env.read_packet(&header->call, &call);
  if (tag_epoch(tag) != epoch) return false;
  if (env.read_packet(&header->bytes, &bytes) != tag) return false;
  const u64 expected = expected_bytes(env.transformation(), p, peer);
  if (tag_signature(tag) != pair_signature(p.call_hash, expected)) {
    StopRecord record;
    record.kind = StopKind::kMismatch;
    record.rank = p.rank;
    record.peer = peer;
    record.epoch = epoch;
    record.expected_call = p.descriptor;
    record.found_call = call;
    record.expected_bytes = expected;
    record.found_bytes = bytes;
    env.stop(record);
    *agrees = false;
  }
  return true;
}

// Waits for the headers of the peers that `wanted(peer)` selects, a lane each. False: stop.
template <class Env, class Wanted>
PURLIN_HD bool wait_headers(Env& env, const CallParams& p, u64 epoch, Wanted wanted) {
  const u32 n = env.nranks();
  for (u32 d = 1 + env.lane(); d < n; d += env.lanes()) {
    const u32 peer = (p.rank + n - d) % n;
    if (!wanted(peer)) continue;
    bool agrees = true;
    if (!env.wait([&] { return header_arrived(env, p, epoch, peer, &agrees); },
                  Site{peer, 0, 0}))
      return false;
    if (!agrees) return false;
  }
  return true;
}

}  // namespace purlin::snac
