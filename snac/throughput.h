// The throughput protocol: stage a chunk, notify, let consumers take it. Each CTA plays one role and
// gives its Atom the segments of that role, one after another; the Atom calls back here for what to
// move (segment), whether it may (ready), and that it has (done).
//
// Roles. Stage: own input -> slots. Reduce: slots of all stagers -> output or, with a second step,
// output and slots of the second step. Gather: slots -> output. A one-step call whose consume is copy
// has the roles stage and gather, one that reduces has stage and reduce, two steps have all three.
#pragma once

#include "snac/flow.h"
#include "snac/header.h"
#include "snac/schedule.h"

namespace purlin::snac {

enum class Role : u32 { kStage = 0, kReduce = 1, kGather = 2 };

PURLIN_HD constexpr bool has_role(const Form& form, Role role) {
  if (role == Role::kStage || form.steps == 2) return true;
  return (role == Role::kReduce) == form.reduces;
}

template <class Env>
class Throughput {
 public:
  using Params = typename Env::Params;

  // Walks rounds [first_round, first_round + round_limit) of the role's chunks on CTA `cta` of the
  // role's p.ctas[role].
  PURLIN_HD Throughput(Env& env, const Params& params, u64 epoch, Role role, u32 cta, u32 first_round,
                       u32 round_limit)
      : env_(env),
        p_(params),
        form_(env.form()),
        shared_steps_(shared_steps_of(form_)),
        n_(env.nranks()),
        epoch_(epoch),
        role_(role) {
    u32 end = 0;
    const u32 streams = role == Role::kReduce || (role == Role::kStage && shared(kFirst)) ? 1 : n_;
    for (u32 s = 0; s < streams; ++s) {
      const u32 last = range_of(s).end;
      end = end > last ? end : last;
    }
    walk_ = Walk::make(streams, p_.geometry.slots, p_.ctas[static_cast<u32>(role)], cta, end,
                       first_round, round_limit);
    size_ = walk_.size();
  }

  PURLIN_HD const Params& params() const { return p_; }
  PURLIN_HD const Form& form() const { return form_; }

  // Rounds that the longest stream of this role has on this rank.
  PURLIN_HD u32 rounds() const { return walk_.first_round + walk_.rounds; }

  // Pure function of the index; false past the end.
  PURLIN_HD bool segment(u64 index, purlin_segment* out) const {
    if (index >= size_) return false;
    const Item item = item_at(static_cast<u32>(index));
    out->bytes = 0;
    out->nsrc = 1;
    out->ndst = 1;
    out->reduce = PURLIN_CONSUME_COPY;
    out->kind = PURLIN_SEGMENT_UNICAST;
    out->src[0] = p_.in;
    out->dst[0] = p_.out;
    if (!item.valid) return true;
    if (role_ == Role::kStage) stage_segment(item, out);
    else if (role_ == Role::kReduce) reduce_segment(item, out);
    else gather_segment(item, out);
    return true;
  }

  // Bounded wait before the first byte of the segment. False: stop. One place waits for everything:
  // a wait is much code.
  PURLIN_HD bool ready(u64 index) {
    const Item item = item_at(static_cast<u32>(index));
    bool waited = false;
    const u32 needs = item.valid ? needs_of(item) : 0;
    for (u32 k = 0; k < needs; ++k) {
      const Need need = need_of(item, k);
      if (need.word == nullptr) continue;
      if (!wait_for(need)) return false;
      waited = true;
    }
    return waited || !env_.stopped();
  }

  // The segment's last byte is visible.
  PURLIN_HD void done(u64 index) {
    const Item item = item_at(static_cast<u32>(index));
    if (!item.valid) return;
    if (role_ == Role::kStage) stage_done(item);
    else if (role_ == Role::kReduce) reduce_done(item);
    else gather_done(item);
  }

 private:
  static constexpr u32 kFirst = 0, kSecond = 1;

  PURLIN_HD u32 taken_step() const { return form_.steps - 1; }  // the step that gather consumes
  // One stream for all consumers: only when they read it where it was staged.
  // A mask and no array, so that a step known only at run time leaves it in a register.
  PURLIN_HD bool shared(u32 step) const { return (shared_steps_ >> step & 1) != 0; }
  PURLIN_HD static u32 shared_steps_of(const Form& form) {
    return u32{form.shared[0] && !form.push[0]} | u32{form.shared[1] && !form.push[1]} << 1;
  }
  PURLIN_HD u32 peer_at(u32 distance) const { return (p_.rank + distance) % n_; }
  PURLIN_HD u32 peer_behind(u32 distance) const { return (p_.rank + n_ - distance) % n_; }

  // ---- Streams ------------------------------------------------------------------------------

  // Stream s of stage goes to rank + s, of gather comes from rank - s; 0 is own.
  PURLIN_HD u32 peer_of(u32 stream) const {
    return role_ == Role::kStage ? peer_at(stream) : peer_behind(stream);
  }

  // Of a pair's bytes those that are staged: none when they went by packets.
  PURLIN_HD u64 staged(u64 bytes) const { return bytes > p_.pair_limit ? bytes : 0; }

  // Shares of several regions are all alike, so own sizes stand for every rank's.
  PURLIN_HD Cut cut_of(u32 stream) const {
    const u32 peer = peer_of(stream);
    u64 bytes = 0;
    if (role_ == Role::kReduce) bytes = reduced_bytes();
    else if (role_ == Role::kStage)
      bytes = shared(kFirst) ? env_.own().bytes
              : peer != p_.rank || p_.scaled ? staged(env_.send(kFirst, peer).bytes) : 0;
    else if (form_.parts) bytes = env_.receive(kSecond, peer).bytes != 0 ? p_.share_bytes : 0;
    else bytes = staged(env_.receive(taken_step(), peer).bytes);
    return Cut{bytes, form_.parts ? p_.part_bytes : bytes, p_.geometry.chunk_shift};
  }

  // Bytes that the reduce role produces here.
  PURLIN_HD u64 reduced_bytes() const {
    if (form_.steps == 2) return p_.share_bytes;
    u64 bytes = 0;
    for (u32 s = 0; s < n_; ++s) bytes = larger(bytes, env_.receive(0, s).bytes);
    return bytes;
  }

  // Chunks of a stream that this role touches: all, but for gather from a share of several regions,
  // where only own region's chunks are.
  PURLIN_HD ChunkRange range_of(u32 stream) const {
    const Cut cut = cut_of(stream);
    if (role_ == Role::kGather && stream == 0 && takes_own_while_staging()) return {};
    if (role_ != Role::kGather || form_.steps == 1) return {0, cut.chunks()};
    if (peer_of(stream) == p_.rank || cut.bytes == 0) return {};
    if (!form_.parts) return {0, cut.chunks()};
    const u32 first = own_part() * cut.chunks_per_part();
    return {first, first + cut.chunks_per_part()};
  }

  // Whether own region goes to the output as it is staged, read once, rather than in the gather role.
  PURLIN_HD bool takes_own_while_staging() const {
    if constexpr (Env::kTakesOwnWhileStaging)
      return form_.steps == 1 && !form_.reduces && shared(kFirst) &&
             env_.receive(kFirst, p_.rank).bytes != 0;
    else
      return false;
  }

  // Which region of every rank's share is for `consumer`.
  PURLIN_HD u32 part_of(u32 consumer) const {
    return static_cast<u32>(env_.send(kSecond, consumer).offset / p_.part_bytes);
  }
  PURLIN_HD u32 own_part() const { return part_of(p_.rank); }

  PURLIN_HD Item item_at(u32 index) const {
    Item item = walk_.at(index);
    if (item.valid) {
      const ChunkRange range = range_of(item.stream);
      item.valid = item.chunk >= range.begin && item.chunk < range.end;
    }
    return item;
  }

  PURLIN_HD u8* slot(u32 step, u32 stager, u32 consumer, u32 slot_index) const {
    return slot_at(p_, epoch_, step, stager, consumer, shared(step), slot_index);
  }

  // One word that a segment waits for; null: nothing.
  struct Need {
    const u64* word = nullptr;
    u32 round = 0;
    Site site;
  };
  PURLIN_HD bool wait_for(const Need& need) {
    const u64 value = flag_value(epoch_, need.round);
    return env_.wait([&] { return env_.observe(need.word) >= value; }, need.site);
  }
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
    out->reduce = p_.scaled ? PURLIN_CONSUME_SCALE : PURLIN_CONSUME_COPY;
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
    for (u32 d = 0; d < n_; ++d) {
      const u32 consumer = peer_at(d);
      if (staged_for(item, consumer))
        announce(flag_at(p_, consumer, epoch_, kFirst, p_.rank, item.slot), item.round, consumer);
    }
    if (p_.exchange_in_place)
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
  PURLIN_HD bool taken_from_slot(u32 source) const { return source != p_.rank || p_.scaled; }

  // Whether chunk `chunk` of own share goes to `consumer` in the second step.
  PURLIN_HD bool wanted_by(u32 consumer, u32 chunk) const {
    if (env_.send(kSecond, consumer).bytes == 0) return false;
    return !form_.parts || chunk / cut_of(0).chunks_per_part() == part_of(consumer);
  }

  PURLIN_HD const u8* source_of(u32 source, const Item& item, u64 offset) const {
    return taken_from_slot(source) ? slot(kFirst, source, p_.rank, item.slot)
                                   : p_.in + env_.send(kFirst, source).offset + offset;
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
      out->reduce = PURLIN_CONSUME_REDUCE;
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
    if (n_ == 1) {  // nobody reads a slot, and no segment has more destinations than there are ranks
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
    const u32 consumer = peer_at(k - n_);
    const u32 earlier = item.chunk - p_.geometry.slots;
    if (consumer == p_.rank || !wanted_by(consumer, earlier)) return {};
    return {ack_at(p_, p_.rank, epoch_, kSecond, consumer, item.slot), item.round - 1,
            Site{consumer, kSecond, earlier}};
  }

  PURLIN_HD void reduce_done(const Item& item) {
    const bool reused = item.chunk + p_.geometry.slots < cut_of(0).chunks();
    for (u32 d = 0; d < n_; ++d) {
      const u32 source = peer_behind(d);
      if (reused && is_source(source) && taken_from_slot(source))
        announce(ack_at(p_, source, epoch_, kFirst, p_.rank, item.slot), item.round, source);
    }
    if (form_.steps == 1) return;
    for (u32 d = 1; d < n_; ++d) {
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
    const u8* from = peer == p_.rank ? p_.in + env_.send(0, peer).offset + chunk.offset
                                     : slot(step, peer, p_.rank, item.slot);
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
    if (k == 1)
      return {own_flag_at(p_, epoch_, peer, item.slot), item.round, Site{p_.rank, step, item.chunk}};
    return {flag_at(p_, p_.rank, epoch_, step, peer, item.slot), item.round,
            Site{peer, step, item.chunk}};
  }

  // A slot is used again while the whole stream, not only own part of it, goes on.
  PURLIN_HD void gather_done(const Item& item) {
    const u32 peer = peer_of(item.stream);
    if (peer == p_.rank || item.chunk + p_.geometry.slots >= cut_of(item.stream).chunks()) return;
    announce(ack_at(p_, peer, epoch_, taken_step(), p_.rank, item.slot), item.round, peer);
  }

  Env& env_;
  const Params& p_;
  const Form form_;
  const u32 shared_steps_;
  const u32 n_;
  const u64 epoch_;
  const Role role_;
  Walk walk_;
  u32 size_ = 0;
};

}  // namespace purlin::snac
