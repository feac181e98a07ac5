// Headers: in every call every rank tells every peer what it is about to do, and hears from every
// peer. That is what lets two staging halves suffice, and what finds ranks that disagree.
#pragma once

#include "snac/call.h"

namespace purlin::snac {

// Where a wait stands, for the record of a stop.
struct Site {
  u32 peer = 0;
  u32 step = 0;
  u64 chunk = 0;
};

// Packets that a peer is to send for one block: where, tagged how, how many bytes (0: none).
struct Expected {
  const purlin_packet* slots = nullptr;
  u64 tag = 0;
  u64 bytes = 0;
  Site site;
};

// Sent by lanes, a peer each, nearest distance first.
template <class Env, class Params>
PURLIN_HD void send_headers(Env& env, const Params& p, u64 epoch) {
  const u32 n = env.nranks();
  for (u32 d = 1 + env.lane(); d < n; d += env.lanes()) {
    const u32 peer = (p.rank + d) % n;
    const u64 tag = packet_tag(epoch, env.send_signature(peer));
    Header* header = header_at(p, peer, epoch, p.rank);
    env.send_word(&header->bytes, env.send(0, peer).bytes, tag);
    env.send_word(&header->call, p.descriptor, tag);
    env.ring(peer);
  }
}

enum class Arrival : u32 { kNotYet, kAgrees, kDiffers };

// Looks for the header of `peer`. One that contradicts own call is put into `record`.
template <class Env, class Params>
PURLIN_HD Arrival header_from(Env& env, const Params& p, u64 epoch, u32 peer, StopRecord* record) {
  const Header* header = header_at(p, p.rank, epoch, peer);
  u64 call = 0;
  u64 bytes = 0;
  const u64 tag = env.read_packet(&header->call, &call);
  if (tag_epoch(tag) != epoch) return Arrival::kNotYet;
  if (env.read_packet(&header->bytes, &bytes) != tag) return Arrival::kNotYet;
  if (tag_signature(tag) == env.receive_signature(peer)) return Arrival::kAgrees;
  *record = StopRecord{};
  record->kind = StopKind::kMismatch;
  record->rank = p.rank;
  record->peer = peer;
  record->epoch = epoch;
  record->expected_call = p.descriptor;
  record->found_call = call;
  record->expected_bytes = env.receive(0, peer).bytes;
  record->found_bytes = bytes;
  return Arrival::kDiffers;
}

// Whom to name when a wait for `peer` was too long: the peer may itself wait for a rank that never came,
// so a rank without a header comes first.
template <class Env, class Params>
PURLIN_HD u32 absent_instead_of(Env& env, const Params& p, u64 epoch, u32 peer) {
  PURLIN_NO_UNROLL
  for (u32 r = 0; r < env.nranks(); ++r) {
    if (r == p.rank) continue;
    StopRecord ignored;
    if (header_from(env, p, epoch, r, &ignored) == Arrival::kNotYet) return r;
  }
  return peer;
}

// Whether the header of `peer` has arrived. A header that contradicts own call stops the rank:
// `agrees` is then false.
template <class Env, class Params>
PURLIN_HD bool header_arrived(Env& env, const Params& p, u64 epoch, u32 peer, bool* agrees) {
  StopRecord record;
  const Arrival arrival = header_from(env, p, epoch, peer, &record);
  if (arrival == Arrival::kDiffers) {
    env.stop(record);
    *agrees = false;
  }
  return arrival != Arrival::kNotYet;
}

// Waits for the headers of the peers that `wanted(peer)` selects, a lane each. False: stop.
template <class Env, class Params, class Wanted>
PURLIN_HD bool wait_headers(Env& env, const Params& p, u64 epoch, Wanted wanted) {
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
