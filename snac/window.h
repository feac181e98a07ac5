// Windows: buffers of the application that all peers have mapped. A source whose bytes of a step
// lie in one says so to each consumer when the call begins, and they read them there: no slot, no
// round. Each source decides for itself. docs/protocol.md has the order.
#pragma once

#include "snac/header.h"

namespace purlin::snac {

// A place: a window's number, from 1 on, and an offset from the buffer's first byte.
PURLIN_HD constexpr u64 place_in(u32 number, u64 offset) { return u64{number} << 48 | offset; }
PURLIN_HD constexpr u32 window_of(u64 place) { return static_cast<u32>(place >> 48); }
PURLIN_HD constexpr u64 offset_of(u64 place) { return place & ((u64{1} << 48) - 1); }
inline constexpr u32 kMostWindow = 0xffff;
inline constexpr u64 kMostWindowBytes = u64{1} << 48;

// Whether sources can offer their bytes of `step` in a window. A share of several regions, or one
// that its own rank does not take into its output, exists in slots alone.
PURLIN_HD constexpr bool offers(const Form& form, u32 step) {
  return step == 0 || (form.steps == 2 && form.everyone && !form.parts);
}

// What `source` says to `owner`, in the memory of `owner`.
template <class Params>
PURLIN_HD Entry* entry_at(const Params& p, u32 owner, u64 epoch, u32 source) {
  return reinterpret_cast<Entry*>(p.peers[owner] + p.map.entries) +
         (half_of(epoch) * p.nranks + source);
}

// "CTA `cta` of `consumer`, one of so many, reads my bytes of `step` no more", in the memory of their
// owner. Ranks' grids may differ, so an exit says of how many it is one.
PURLIN_HD constexpr u64 exit_value(u64 epoch, u32 ctas) { return epoch << kRoundBits | ctas; }
template <class Params>
PURLIN_HD u64* exit_at(const Params& p, u32 owner, u32 step, u32 consumer, u32 cta) {
  return word_at(p, p.map.exits, owner, (u64{step} * p.nranks + consumer) * p.map.exit_words + cta);
}

// The line of a window's number in a rank's block: the number it is for, or another when it is
// closed.
PURLIN_HD u64* window_line(u8* block, const WireMap& map, u32 nranks, u32 number) {
  return reinterpret_cast<u64*>(block + map.windows +
                                number % kWindows * window_line_bytes(nranks));
}
PURLIN_HD WindowBuffer* buffers_of(u64* line) { return reinterpret_cast<WindowBuffer*>(line) + 1; }

// What this rank offers to `peer` in `step`; 0: its bytes are staged, or it has none.
template <class Env, class Params>
PURLIN_HD u64 offered(const Env& env, const Params& p, u32 step, u32 peer) {
  const u64 limit = step == 0 ? p.pair_limit : 0;  // pairs of fewer bytes use packets
  const Extent& flow = env.send(step, peer);
  return p.place[step] == 0 || flow.bytes <= limit ? 0 : p.place[step] + flow.offset;
}

// Sent like the headers. The release publishes what was written into the input before the call.
template <class Env, class Params>
PURLIN_HD void send_entries(Env& env, const Params& p, u64 epoch) {
  const u32 n = env.nranks();
  for (u32 d = 1 + env.lane(); d < n; d += env.lanes()) {
    const u32 peer = (p.rank + d) % n;
    Entry* entry = entry_at(p, peer, epoch, p.rank);
    for (u32 step = 0; step < env.form().steps; ++step)
      store_relaxed(entry->place[step], offered(env, p, step, peer));
    env.signal(&entry->epoch, epoch);
    env.ring(peer);
  }
}

// The address behind a place that `peer` names, or null if it is not wholly mapped here.
template <class Params>
PURLIN_HD const u8* address_of(const Params& p, u32 peer, u64 place, u64 bytes) {
  u64* line = window_line(p.peers[p.rank], p.map, p.nranks, window_of(place));
  const WindowBuffer& buffer = buffers_of(line)[peer];
  const u64 offset = offset_of(place);
  const bool mapped = load_relaxed(*line) == window_of(place) && offset <= buffer.bytes &&
                      bytes <= buffer.bytes - offset;
  return mapped ? reinterpret_cast<const u8*>(buffer.base + offset) : nullptr;
}

// Hears from every peer where its bytes lie, a lane of the group each, and keeps it in env.place.
// To be called before the first segment of a role that consumes. False: stop.
template <class Env, class Params>
PURLIN_HD bool hear_entries(Env& env, const Params& p, u64 epoch, u32 lane, u32 lanes) {
  const u32 n = env.nranks();
  for (u32 d = 1 + lane; d < n; d += lanes) {
    const u32 peer = (p.rank + n - d) % n;
    const Entry* entry = entry_at(p, p.rank, epoch, peer);
    // The header first: the places of another call mean nothing here.
    bool agrees = true;
    const bool heard = env.wait(
        [&] {
          return header_arrived(env, p, epoch, peer, &agrees) &&
                 (!agrees || env.observe(&entry->epoch) >= epoch);
        },
        Site{peer, 0, 0});
    if (!heard || !agrees) return false;
    for (u32 step = 0; step < env.form().steps; ++step) {
      const u64 place = load_relaxed(entry->place[step]);
      const u64 bytes = env.receive(step, peer).bytes;
      const bool here = place != 0 && bytes != 0;
      const u8* address = here ? address_of(p, peer, place, bytes) : nullptr;
      env.set_place(step, peer, address);
      if (!here || address != nullptr) continue;
      StopRecord record;
      record.kind = StopKind::kNoWindow;
      record.rank = p.rank;
      record.peer = peer;
      record.step = step;
      record.epoch = epoch;
      record.expected_call = p.descriptor;
      record.found_bytes = window_of(place);
      env.stop(record);
      return false;
    }
  }
  return true;
}

// Tells the owners whose bytes of `step` were read in place that CTA `cta` of `ctas` has read its
// last.
template <class Env, class Params>
PURLIN_HD void tell_exit(Env& env, const Params& p, u64 epoch, u32 step, u32 cta, u32 ctas, u32 lane,
                         u32 lanes) {
  const u32 n = env.nranks();
  for (u32 d = 1 + lane; d < n; d += lanes) {
    const u32 owner = (p.rank + n - d) % n;
    if (env.place(step, owner) == nullptr) continue;
    env.signal(exit_at(p, owner, step, p.rank, cta), exit_value(epoch, ctas));
    env.ring(owner);
  }
}

// Waits until all CTAs of every consumer of `step` have read their last of what this rank offered.
// Several lanes share a consumer's CTAs. False: stop.
template <class Env, class Params>
PURLIN_HD bool await_exits(Env& env, const Params& p, u64 epoch, u32 step, u32 lane, u32 lanes) {
  const u32 peers = env.nranks() - 1;
  if (peers == 0) return true;
  const u32 side_by_side = lanes < peers ? lanes : peers;
  for (u32 d = lane % side_by_side; d < peers; d += side_by_side) {
    const u32 consumer = (p.rank + 1 + d) % env.nranks();
    if (offered(env, p, step, consumer) == 0) continue;
    u32 ctas = 1;
    for (u32 cta = 0; cta < ctas; cta += cta == 0 ? 1 + lane / side_by_side : lanes / side_by_side) {
      const u64* word = exit_at(p, p.rank, step, consumer, cta);
      u64 value = 0;
      if (!env.wait([&] { return (value = env.observe(word)) >= exit_value(epoch, 0); },
                    Site{consumer, step | kExitStep, cta}))
        return false;
      ctas = static_cast<u32>(value & ((u64{1} << kRoundBits) - 1));
    }
  }
  return true;
}

}  // namespace purlin::snac
