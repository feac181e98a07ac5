// The environment in which a collective runs on the host: a rank is one thread, and an Atom is a
// function table.
#pragma once

#include <cstring>

#include "snac/host_blocks.h"
#include "snac/host_waiter.h"

namespace purlin::snac {

class HostEnv : public HostBlocks, public HostWaiter {
 public:
  using Params = CallParams;
  static constexpr u32 kMaxSources = kMaxRanks;
  static constexpr bool kTakesOwnWhileStaging = true;

  // All references must outlive the env. One env serves one call on one thread.
  HostEnv(const Form& form, const CallParams& params, const purlin_host_atom& atom,
          const purlin_constants& constants, HostPatience patience, const PeerLeft* peer_left,
          u64 epoch)
      : HostBlocks(atom, constants),
        HostWaiter(params.controls, params.nranks, params.rank, params.timeout_ns, patience,
                   peer_left),
        form_(form),
        p_(params),
        epoch_(epoch) {}

  const Form& form() const { return form_; }
  const Extent& own() const { return p_.own; }
  const Extent& send(u32 step, u32 peer) const { return p_.send[step][peer]; }
  const Extent& receive(u32 step, u32 peer) const { return p_.receive[step][peer]; }
  u32 send_signature(u32 peer) const { return p_.send_signature[peer]; }
  u32 receive_signature(u32 peer) const { return p_.receive_signature[peer]; }
  u32 nranks() const { return p_.nranks; }

  template <class... Values>
  static void settle(Values&...) {}
  // What a GPU rank is told; worked out here.
  template <class Find>
  static u32 longest_sent(u32, Find find) { return find(); }
  template <class Find>
  static u32 longest_received(u32, Find find) { return find(); }

  static void fetch_epoch() {}
  u64 fetched_epoch() const { return epoch_; }
  static void epoch_is_read() {}
  // A rank is one thread, which waits for its peers one after another.
  static u32 peer_lane() { return 0; }
  static u32 peer_lanes() { return 1; }
  static bool all_lanes(bool mine) { return mine; }
  // Whether to look for a stop before segment `index`, which may not wait for anybody.
  static bool looks_up(u64) { return true; }

  // Switch staging. On the host the view is the list of its replicas.
  u8* replica(u64 offset) const { return replica_of(p_.rank, offset); }
  void load_from_view(u64 offset, purlin_segment* out) const {
    out->kind |= PURLIN_SEGMENT_SWITCH_LOAD;
    out->nsrc = p_.nranks;
    for (u32 r = 0; r < p_.nranks; ++r) out->src[r] = replica_of(r, offset);
  }
  void store_to_view(u64 offset, purlin_segment* out) const {
    out->kind |= PURLIN_SEGMENT_SWITCH_STORE;
    out->ndst = p_.nranks;
    for (u32 r = 0; r < p_.nranks; ++r) out->dst[r] = replica_of(r, offset);
  }

  // Where `peer` offers its bytes of a step; null: in slots. Heard at entry, before any is asked for.
  const u8* place(u32 step, u32 peer) const { return places_[step][peer]; }
  void set_place(u32 step, u32 peer, const u8* address) { places_[step][peer] = address; }

  // Fills blocks[i] for each bit i of `wanted` that is set, from where expected(i) says; the other
  // blocks stay as they are. False: stop.
  template <class From>
  bool receive_all(u64 wanted, From expected, Block* blocks, u32 count) {
    for (u32 i = 0; i < count; ++i) {
      if ((wanted >> i & 1) == 0) continue;
      const Expected one = expected(i);
      PacketReader reader(*this, one, &blocks[i]);
      if (!reader.poll() && !wait([&] { return reader.poll(); }, one.site)) return false;
    }
    return true;
  }

 private:
  u8* replica_of(u32 rank, u64 offset) const { return p_.peers[rank] + p_.map.switched + offset; }

  bool disagrees(u32 peer) override {
    bool agrees = true;
    header_arrived(*this, p_, epoch_, peer, &agrees);
    return !agrees;
  }
  StopKind in_vain(u32 peer, u64 waited_ns) override {
    return waited_ns > kRefusalGraceNs &&
                   __atomic_load_n(&control(peer)->refused, __ATOMIC_ACQUIRE) == epoch_
               ? StopKind::kRefused
               : StopKind::kNone;
  }
  StopRecord record_at(StopKind kind, Site site) override {
    StopRecord record;
    record.kind = kind;
    record.rank = p_.rank;
    record.peer = kind == StopKind::kTimeout ? absent_instead_of(*this, p_, epoch_, site.peer)
                                             : site.peer;
    record.step = site.step;
    record.epoch = epoch_;
    record.chunk = site.chunk;
    record.expected_call = p_.descriptor;
    return record;
  }

  const Form& form_;
  const CallParams& p_;
  const u64 epoch_;
  const u8* places_[2][kMaxRanks];  // unset on purpose: of calls with windows alone
};

}  // namespace purlin::snac
