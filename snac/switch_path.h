// The switch protocol: calls staged into memory whose replicas, one on each rank, have one common
// address besides their own, the view. A load through the view combines all replicas, a store through
// it reaches all; both happen in the switch, or in what stands for it. Flags, acks, epochs, slots,
// chunks and roles are those of the throughput protocol.
//
// AllReduce      stage own input into own replica; reduce own share through the view, in place; gather
//                everything from own replica.
// ReduceScatter  stage own input into own replica; reduce own region through the view into the output.
// AllGather      stage own input through the view; gather the peers' from own replica.
//
// A slot of region p is the same place in every replica. When a call ends on a rank nobody uses the
// rank's replica any more, so that it may be unbound: AllReduce and AllGather have heard from every
// user by then, ReduceScatter waits for the last acks.
#pragma once

#include "snac/role_walk.h"

namespace purlin::snac {

template <class Env>
class SwitchPath : public RoleWalk<Env> {
 public:
  using typename RoleWalk<Env>::Params;

  // As Throughput's.
  PURLIN_HD SwitchPath(Env& env, const Params& params, u64 epoch, Role role, u32 cta, u32 first_round,
                       u32 round_limit)
      : Base(env, params, epoch, role) {
    const bool one = role == Role::kReduce || (role == Role::kStage && !form_.reduces);
    const u32 end = walk(one ? 1 : n_, cta, first_round, round_limit,
                         [&](u32 stream) { return cut_of(stream).chunks(); });
    if (awaits_last_acks() && end != 0) {
      const u32 rounds = (end + p_.geometry.slots - 1) / p_.geometry.slots + 1;
      const u32 left = rounds > first_round ? rounds - first_round : 0;
      walk_.rounds = left < round_limit ? left : round_limit;
      size_ = walk_.size();
    }
  }

  // Pure function of the index; false past the end.
  PURLIN_HD bool segment(u64 index, purlin_segment* out) const {
    if (index >= size_) return false;
    const Item item = item_at(static_cast<u32>(index));
    clear(out);
    if (!item.valid || beyond(item)) return true;
    const Extent chunk = cut_of(item.stream).chunk(item.chunk);
    out->bytes = chunk.bytes;
    if (role_ == Role::kStage) stage_segment(item, chunk, out);
    else if (role_ == Role::kReduce) reduce_segment(item, chunk, out);
    else gather_segment(item, chunk, out);
    return true;
  }

  // As Throughput's, with a lane for each peer.
  PURLIN_HD bool ready(u64 index) {
    const Item item = item_at(static_cast<u32>(index));
    const u32 needs = item.valid ? needs_of(item) : 0;
    bool goes = !env_.looks_up(index) || !env_.stopped();
    for (u32 k = env_.peer_lane(); k < needs && goes; k += env_.peer_lanes()) {
      const Need need = need_of(item, k);
      if (need.word != nullptr) goes = wait_for(need);
    }
    return env_.all_lanes(goes);
  }

  // The segment's last byte is visible, whichever address it was stored through.
  PURLIN_HD void done(u64 index) {
    const Item item = item_at(static_cast<u32>(index));
    if (!item.valid || beyond(item)) return;
    if (role_ == Role::kStage) stage_done(item);
    else if (role_ == Role::kReduce) reduce_done(item);
    else gather_done(item);
  }

 private:
  using Base = RoleWalk<Env>;
  using Base::clear, Base::env_, Base::epoch_, Base::form_, Base::kFirst, Base::n_, Base::p_,
      Base::peer_at, Base::peer_behind, Base::role_, Base::size_, Base::wait_for, Base::walk,
      Base::walk_;
  using typename Base::Need;

  PURLIN_HD u32 last_step() const { return form_.steps - 1; }
  PURLIN_HD bool stages_through_view() const { return !form_.reduces; }
  // The stage role goes one round further, of segments without bytes that wait as if a slot were used
  // again.
  PURLIN_HD bool awaits_last_acks() const {
    return role_ == Role::kStage && form_.reduces && form_.steps == 1;
  }

  // The rank whose region a stream moves: of stage the one at a distance (one that is not reduced
  // offers its own alone), of gather the one behind.
  PURLIN_HD u32 region_of(u32 stream) const {
    return role_ == Role::kGather ? peer_behind(stream) : peer_at(stream);
  }

  PURLIN_HD Cut cut_of(u32 stream) const {
    const u32 region = region_of(stream);
    u64 bytes = 0;
    if (role_ == Role::kGather) bytes = env_.receive(last_step(), region).bytes;
    else if (role_ == Role::kReduce)
      bytes = form_.steps == 2 ? p_.share_bytes : env_.receive(kFirst, p_.rank).bytes;
    else bytes = form_.reduces ? env_.send(kFirst, region).bytes : p_.own.bytes;
    return Cut{bytes, bytes, p_.geometry.chunk_shift};
  }

  PURLIN_HD Item item_at(u32 index) const {
    Item item = walk_.at(index);
    const u32 chunks = cut_of(item.stream).chunks();
    const u32 slots = p_.geometry.slots;
    const bool returns = awaits_last_acks() && item.chunk >= slots && item.chunk < chunks + slots;
    item.valid = item.valid && (item.chunk < chunks || returns);
    return item;
  }
  PURLIN_HD bool beyond(const Item& item) const {
    return item.chunk >= cut_of(item.stream).chunks();
  }

  PURLIN_HD u64 slot_of(u32 region, const Item& item) const {
    return switch_slot(p_, epoch_, region, item.slot);
  }
  PURLIN_HD bool reused(const Item& item) const {
    return item.chunk + p_.geometry.slots < cut_of(item.stream).chunks();
  }
  PURLIN_HD void announce(u64* word, u32 round, u32 peer) {
    env_.signal(word, flag_value(epoch_, round));
    if (peer != p_.rank) env_.ring(peer);
  }
  PURLIN_HD bool first_lane() const { return env_.peer_lane() == 0; }

  PURLIN_HD u32 needs_of(const Item& item) const {
    if (role_ == Role::kReduce) return n_;
    if (role_ == Role::kGather) return 1;
    if (item.round == 0) return 0;
    return stages_through_view() ? n_ : 1;
  }
  PURLIN_HD Need need_of(const Item& item, u32 k) const {
    if (role_ == Role::kStage) return stage_need(item, k);
    return role_ == Role::kReduce ? reduce_need(item, k) : gather_need(item);
  }

  // ---- Stage --------------------------------------------------------------------------------

  PURLIN_HD void stage_segment(const Item& item, const Extent& chunk, purlin_segment* out) const {
    const u32 region = region_of(item.stream);
    out->consume = p_.scaled ? PURLIN_CONSUME_SCALE : PURLIN_CONSUME_COPY;
    if (stages_through_view()) {
      out->src[0] = p_.in + p_.own.offset + chunk.offset;
      env_.store_to_view(slot_of(region, item), out);
    } else {
      out->src[0] = p_.in + env_.send(kFirst, region).offset + chunk.offset;
      out->dst[0] = env_.replica(slot_of(region, item));
    }
  }

  // A slot is used again once its last chunk has left it: every replica's, or own one. Who empties own
  // replica is the region's rank, which reduces it, or, with a second step, own gather.
  PURLIN_HD Need stage_need(const Item& item, u32 k) const {
    const u32 consumer = stages_through_view() ? peer_at(k) : region_of(item.stream);
    if (stages_through_view() && consumer == p_.rank) return {};
    return {ack_at(p_, p_.rank, epoch_, kFirst, consumer, item.slot), item.round - 1,
            Site{form_.steps == 2 ? p_.rank : consumer, kFirst, item.chunk - p_.geometry.slots}};
  }

  PURLIN_HD void stage_done(const Item& item) {
    if (!stages_through_view()) {
      const u32 region = region_of(item.stream);
      if (first_lane())
        announce(flag_at(p_, region, epoch_, kFirst, p_.rank, item.slot), item.round, region);
      return;
    }
    announce_to_peers(item);
  }

  // ---- Reduce -------------------------------------------------------------------------------

  PURLIN_HD void reduce_segment(const Item& item, const Extent& chunk, purlin_segment* out) const {
    out->consume = PURLIN_CONSUME_REDUCE;
    env_.load_from_view(slot_of(p_.rank, item), out);
    if (form_.steps == 2) env_.store_to_view(slot_of(p_.rank, item), out);
    else out->dst[0] = p_.out + env_.receive(kFirst, p_.rank).offset + chunk.offset;
  }

  // Own replica too: it is loaded like the others.
  PURLIN_HD Need reduce_need(const Item& item, u32 k) const {
    const u32 source = peer_behind(k);
    return {flag_at(p_, p_.rank, epoch_, kFirst, source, item.slot), item.round,
            Site{source, kFirst, item.chunk}};
  }

  PURLIN_HD void reduce_done(const Item& item) {
    if (form_.steps == 2) {
      announce_to_peers(item);
      if (first_lane())
        announce(flag_at(p_, p_.rank, epoch_, 1, p_.rank, item.slot), item.round, p_.rank);
    } else {
      for (u32 d = env_.peer_lane(); d < n_; d += env_.peer_lanes())
        announce(ack_at(p_, peer_behind(d), epoch_, kFirst, p_.rank, item.slot), item.round,
                 peer_behind(d));
    }
  }

  // Own region's chunk is in every replica.
  PURLIN_HD void announce_to_peers(const Item& item) {
    for (u32 d = 1 + env_.peer_lane(); d < n_; d += env_.peer_lanes())
      announce(flag_at(p_, peer_at(d), epoch_, last_step(), p_.rank, item.slot), item.round,
               peer_at(d));
  }

  // ---- Gather -------------------------------------------------------------------------------

  // What own rank offers is in its input already, unless it has been reduced.
  PURLIN_HD bool taken_from_input(u32 region) const { return form_.steps == 1 && region == p_.rank; }

  PURLIN_HD void gather_segment(const Item& item, const Extent& chunk, purlin_segment* out) const {
    const u32 region = region_of(item.stream);
    const u8* from = taken_from_input(region) ? p_.in + p_.own.offset + chunk.offset
                                              : env_.replica(slot_of(region, item));
    u8* to = p_.out + env_.receive(last_step(), region).offset + chunk.offset;
    if (from == to) out->bytes = 0;
    out->src[0] = from;
    out->dst[0] = to;
  }

  PURLIN_HD Need gather_need(const Item& item) const {
    const u32 region = region_of(item.stream);
    if (taken_from_input(region)) return {};
    return {flag_at(p_, p_.rank, epoch_, last_step(), region, item.slot), item.round,
            Site{region, last_step(), item.chunk}};
  }

  // With two steps the next to write this slot of own replica is own stage; the next to write it
  // through the view is the region's rank, after a flag that own stage raises.
  PURLIN_HD void gather_done(const Item& item) {
    const u32 region = region_of(item.stream);
    if (taken_from_input(region) || !reused(item) || !first_lane()) return;
    if (form_.steps == 2)
      announce(ack_at(p_, p_.rank, epoch_, kFirst, region, item.slot), item.round, p_.rank);
    else
      announce(ack_at(p_, region, epoch_, kFirst, p_.rank, item.slot), item.round, region);
  }
};

}  // namespace purlin::snac
