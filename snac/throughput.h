// The throughput protocol: stage a chunk, notify, let consumers take it. Each CTA plays one role and
// gives its Atom the segments of that role, one after another; the Atom calls back here for what to
// move (segment), whether it may (ready), and that it has (done).
//
// Roles. Stage: own input -> slots. Reduce: slots of all stagers -> output or, with a second step,
// output and slots of the second step. Gather: slots -> output. A one-step call whose consume is copy
// has the roles stage and gather, one that reduces has stage and reduce, two steps have all three.
// What a source offers in a window (window.h) is read there instead of from slots: nothing to stage, to
// wait for beyond the source's entry, or to acknowledge; its flags of the second step remain.
#pragma once

#include "snac/streams.h"

namespace purlin::snac {

template <class Env>
class Throughput : public Streams<Env> {
 public:
  using Streams<Env>::Streams;

  // Pure function of the index; false past the end.
  PURLIN_HD bool segment(u64 index, purlin_segment* out) const {
    if (index >= size_) return false;
    const Item item = item_at(static_cast<u32>(index));
    clear(out);
    if (!item.valid) return true;
    if (role_ == Role::kStage) stage_segment(item, out);
    else if (role_ == Role::kReduce) reduce_segment(item, out);
    else gather_segment(item, out);
    return true;
  }

  // Bounded wait before the first byte of the segment; peers are waited for by a lane each. False:
  // stop. One place waits for everything: a wait is much code.
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

  // The segment's last byte is visible. Peers are told by a lane each.
  PURLIN_HD void done(u64 index) {
    const Item item = item_at(static_cast<u32>(index));
    if (!item.valid) return;
    if (role_ == Role::kStage) stage_done(item);
    else if (role_ == Role::kReduce) reduce_done(item);
    else gather_done(item);
  }

 private:
  using Base = Streams<Env>;
  using Base::clear, Base::cut_of, Base::env_, Base::epoch_, Base::form_, Base::item_at,
      Base::kFirst, Base::kSecond, Base::n_, Base::offers_place, Base::own_part, Base::p_,
      Base::part_of, Base::peer_at, Base::peer_behind, Base::peer_of, Base::place_of, Base::role_, Base::shared,
      Base::size_, Base::slot, Base::taken_step, Base::takes_own_while_staging, Base::wait_for;
  using typename Base::Need;

  PURLIN_HD u32 needs_of(const Item& item) const {
    if (role_ == Role::kStage) return item.round == 0 ? 0 : n_;
    if (role_ == Role::kReduce) return form_.steps == 1 || item.round == 0 ? n_ : 2 * n_;
    return p_.exchange_in_place ? 2 : 1;
  }
  PURLIN_HD Need need_of(const Item& item, u32 k) const {
    if (role_ == Role::kStage) return stage_need(item, k);
    if (role_ == Role::kReduce) return reduce_need(item, k);
    return gather_need(item, k);
  }
  PURLIN_HD void announce(u64* word, u32 round, u32 peer) {
    env_.signal(word, flag_value(epoch_, round));
    env_.ring(peer);
  }

  // ---- Stage --------------------------------------------------------------------------------

  PURLIN_HD void stage_segment(const Item& item, purlin_segment* out) const {
    const u32 peer = peer_of(item.stream);
    const Extent chunk = cut_of(item.stream).chunk(item.chunk);
    const u64 region = shared(kFirst) ? env_.own().offset : env_.send(kFirst, peer).offset;
    out->bytes = chunk.bytes;
    out->consume = p_.scaled ? PURLIN_CONSUME_SCALE : PURLIN_CONSUME_COPY;
    out->src[0] = p_.in + region + chunk.offset;
    out->dst[0] = slot(kFirst, p_.rank, peer, item.slot);
    if (takes_own_while_staging()) {
      out->dst[1] = p_.out + env_.receive(kFirst, p_.rank).offset + chunk.offset;
      out->ndst = 2;
    }
  }

  // A slot is used again once its consumers are done with its last chunk.
  PURLIN_HD Need stage_need(const Item& item, u32 k) const {
    const u32 consumer = peer_at(k);
    if (!staged_for(item, consumer)) return {};
    return {ack_at(p_, p_.rank, epoch_, kFirst, consumer, item.slot), item.round - 1,
            Site{consumer, kFirst, item.chunk - p_.geometry.slots}};
  }

  PURLIN_HD void stage_done(const Item& item) {
    for (u32 d = env_.peer_lane(); d < n_; d += env_.peer_lanes()) {
      const u32 consumer = peer_at(d);
      if (staged_for(item, consumer))
        announce(flag_at(p_, consumer, epoch_, kFirst, p_.rank, item.slot), item.round, consumer);
    }
    if (p_.exchange_in_place && env_.peer_lane() == 0)
      env_.signal(own_flag_at(p_, epoch_, peer_of(item.stream), item.slot),
                  flag_value(epoch_, item.round));
  }

  // Whether the staged item is for `consumer`. Own rank takes its part from the input, unless scaled.
  PURLIN_HD bool staged_for(const Item& item, u32 consumer) const {
    if (consumer == p_.rank && !p_.scaled) return false;
    if (!shared(kFirst) && consumer != peer_of(item.stream)) return false;
    return env_.send(kFirst, consumer).bytes != 0;
  }

  // ---- Reduce (or the copy that begins a second step) -----------------------------------------

  PURLIN_HD bool is_source(u32 rank) const {
    return form_.reduces ? (form_.sources >> rank & 1) != 0 : env_.receive(kFirst, rank).bytes != 0;
  }
  PURLIN_HD bool taken_from_slot(u32 source) const {
    return source == p_.rank ? p_.scaled != 0 : place_of(kFirst, source) == nullptr;
  }

  // Whether chunk `chunk` of own share goes to `consumer` in the second step.
  PURLIN_HD bool wanted_by(u32 consumer, u32 chunk) const {
    if (env_.send(kSecond, consumer).bytes == 0) return false;
    return !form_.parts || chunk / cut_of(0).chunks_per_part() == part_of(consumer);
  }

  PURLIN_HD const u8* source_of(u32 source, const Item& item, u64 offset) const {
    if (taken_from_slot(source)) return slot(kFirst, source, p_.rank, item.slot);
    return source == p_.rank ? p_.in + env_.send(kFirst, source).offset + offset
                             : place_of(kFirst, source) + offset;
  }

  PURLIN_HD void reduce_segment(const Item& item, purlin_segment* out) const {
    const Extent chunk = cut_of(0).chunk(item.chunk);
    out->bytes = chunk.bytes;
    // Indices are constants where the sources are; two steps that copy have one source.
    u32 sources = 0;
    PURLIN_UNROLL
    for (u32 s = 0; s < Env::kMaxSources; ++s) {
      if (s >= n_) break;
      if (!is_source(s)) continue;
      if (form_.reduces) out->src[sources++] = source_of(s, item, chunk.offset);
      else out->src[0] = source_of(s, item, chunk.offset);
    }
    if (form_.reduces) {
      out->consume = PURLIN_CONSUME_REDUCE;
      out->nsrc = sources;
    }
    if (form_.steps == 1) out->dst[0] = p_.out + env_.receive(0, p_.rank).offset + chunk.offset;
    else second_destinations(item, chunk.offset, out);
  }

  // Pulled: one slot, and own output. Pushed to everyone: a slot at each, and own output. Otherwise the
  // chunk has one consumer. Indices are constants in each of the three.
  PURLIN_HD void second_destinations(const Item& item, u64 offset, purlin_segment* out) const {
    const bool own = wanted_by(p_.rank, item.chunk);
    const u64 part = form_.parts ? env_.send(kSecond, p_.rank).offset : 0;
    u8* const output = p_.out + env_.receive(kSecond, p_.rank).offset + (offset - part);
    if (n_ == 1 || offers_place(kSecond)) {  // nobody reads a slot
      out->dst[0] = output;
    } else if (shared(kSecond)) {
      out->dst[0] = slot(kSecond, p_.rank, p_.rank, item.slot);
      out->dst[1] = output;
      out->ndst = own ? 2 : 1;
    } else if (form_.everyone && !form_.parts) {
      PURLIN_UNROLL
      for (u32 d = 1; d < Env::kMaxSources; ++d) {
        if (d >= n_) break;
        out->dst[d - 1] = slot(kSecond, p_.rank, peer_at(d), item.slot);
      }
      out->dst[n_ - 1] = output;
      out->ndst = n_;
    } else {
      out->dst[0] = output;
      for (u32 d = 1; d < n_; ++d)
        if (wanted_by(peer_at(d), item.chunk))
          out->dst[0] = slot(kSecond, p_.rank, peer_at(d), item.slot);
    }
  }

  // First what the sources staged; then, for a slot used again, what the second step's consumers took.
  PURLIN_HD Need reduce_need(const Item& item, u32 k) const {
    if (k < n_) {
      const u32 source = peer_behind(k);
      if (!is_source(source) || !taken_from_slot(source)) return {};
      return {flag_at(p_, p_.rank, epoch_, kFirst, source, item.slot), item.round,
              Site{source, kFirst, item.chunk}};
    }
    if (offers_place(kSecond)) return {};
    const u32 consumer = peer_at(k - n_);
    const u32 earlier = item.chunk - p_.geometry.slots;
    if (consumer == p_.rank || !wanted_by(consumer, earlier)) return {};
    return {ack_at(p_, p_.rank, epoch_, kSecond, consumer, item.slot), item.round - 1,
            Site{consumer, kSecond, earlier}};
  }

  PURLIN_HD void reduce_done(const Item& item) {
    const bool reused = item.chunk + p_.geometry.slots < cut_of(0).chunks();
    for (u32 d = env_.peer_lane(); d < n_; d += env_.peer_lanes()) {
      const u32 source = peer_behind(d);
      if (reused && is_source(source) && taken_from_slot(source))
        announce(ack_at(p_, source, epoch_, kFirst, p_.rank, item.slot), item.round, source);
    }
    if (form_.steps == 1) return;
    for (u32 d = 1 + env_.peer_lane(); d < n_; d += env_.peer_lanes()) {
      const u32 consumer = peer_at(d);
      if (wanted_by(consumer, item.chunk))
        announce(flag_at(p_, consumer, epoch_, kSecond, p_.rank, item.slot), item.round, consumer);
    }
  }

  // ---- Gather -------------------------------------------------------------------------------

  PURLIN_HD void gather_segment(const Item& item, purlin_segment* out) const {
    const u32 peer = peer_of(item.stream);
    const u32 step = taken_step();
    const Extent chunk = cut_of(item.stream).chunk(item.chunk);
    const u64 part = form_.parts ? own_part() * p_.part_bytes : 0;
    const u8* place = peer == p_.rank ? p_.in + env_.send(0, peer).offset : place_of(step, peer);
    const u8* from = place != nullptr ? place + chunk.offset : slot(step, peer, p_.rank, item.slot);
    u8* to = p_.out + env_.receive(step, peer).offset + (chunk.offset - part);
    out->bytes = from == to ? 0 : chunk.bytes;
    out->src[0] = from;
    out->dst[0] = to;
  }

  // In place, the region that comes from a peer is overwritten where own chunk for it was read.
  PURLIN_HD Need gather_need(const Item& item, u32 k) const {
    const u32 peer = peer_of(item.stream);
    const u32 step = taken_step();
    if (peer == p_.rank) return {};
    if (k == 0 && step == kFirst && place_of(step, peer) != nullptr) return {};  // heard at entry
    if (k == 1)
      return {own_flag_at(p_, epoch_, peer, item.slot), item.round, Site{p_.rank, step, item.chunk}};
    return {flag_at(p_, p_.rank, epoch_, step, peer, item.slot), item.round,
            Site{peer, step, item.chunk}};
  }

  // A slot is used again while the whole stream, not only own part of it, goes on.
  PURLIN_HD void gather_done(const Item& item) {
    const u32 peer = peer_of(item.stream);
    if (peer == p_.rank || item.chunk + p_.geometry.slots >= cut_of(item.stream).chunks() ||
        place_of(taken_step(), peer) != nullptr || env_.peer_lane() != 0)
      return;
    announce(ack_at(p_, peer, epoch_, taken_step(), p_.rank, item.slot), item.round, peer);
  }
};

}  // namespace purlin::snac
