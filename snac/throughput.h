// The throughput protocol: stage a chunk, notify, let consumers take it. Each CTA plays one role and
// gives its Atom the segments of that role, one after another; the Atom calls back here for what to
// move (segment), whether it may (ready), and that it has (done).
//
// Roles. Stage: own input -> slots. Reduce: slots of all stagers -> output or, with a second step,
// output and slots of the second step. Gather: slots -> output. A one-step call whose consume is copy
// has the roles stage and gather, one that reduces has stage and reduce, two steps have all three.
#pragma once

#include "snac/header.h"
#include "snac/schedule.h"

namespace purlin::snac {

enum class Role : u32 { kStage = 0, kReduce = 1, kGather = 2 };

PURLIN_HD constexpr bool has_role(const Transformation& t, Role role) {
  if (role == Role::kStage) return true;
  if (t.step_count == 2) return true;
  return (role == Role::kReduce) == (t.steps[0].consume == Consume::kReduce);
}

template <class Env>
class Throughput {
 public:
  // Walks rounds [first_round, first_round + round_limit) of the role's chunks on CTA `cta` of the
  // role's p.ctas[role].
  PURLIN_HD Throughput(Env& env, const CallParams& params, u64 epoch, Role role, u32 cta,
                       u64 first_round, u64 round_limit)
      : env_(env), p_(params), t_(env.transformation()), n_(env.nranks()), epoch_(epoch),
        role_(role) {
    u64 end = 0;
    const u32 streams = stream_count();
    PURLIN_UNROLL
    for (u32 s = 0; s < streams; ++s) end = larger(end, range_of(s).end);
    walk_ = Walk::make(streams, p_.geometry.slots, p_.ctas[static_cast<u32>(role)], cta, end,
                       first_round, round_limit);
    size_ = walk_.size();
  }

  // Rounds that the longest stream of this role has on this rank.
  PURLIN_HD u64 rounds() const { return walk_.first_round + walk_.rounds; }

  // Pure function of the index; false past the end.
  PURLIN_HD bool segment(u64 index, purlin_segment* out) const {
    if (index >= size_) return false;
    const Item item = item_at(index);
    out->bytes = 0;
    out->nsrc = 1;
    out->ndst = 1;
    out->reduce = 0;
    out->kind = PURLIN_SEGMENT_UNICAST;
    out->src[0] = p_.in;
    out->dst[0] = p_.out;
    if (!item.valid) return true;
    if (role_ == Role::kStage) stage_segment(item, out);
    else if (role_ == Role::kReduce) reduce_segment(item, out);
    else gather_segment(item, out);
    return true;
  }

  // Bounded wait before the first byte of the segment. False: stop.
  PURLIN_HD bool ready(u64 index) {
    const Item item = item_at(index);
    if (!item.valid) return !env_.stopped();
    if (role_ == Role::kStage) return stage_ready(item);
    if (role_ == Role::kReduce) return reduce_ready(item);
    return gather_ready(item);
  }

  // The segment's last byte is visible.
  PURLIN_HD void done(u64 index) {
    const Item item = item_at(index);
    if (!item.valid) return;
    if (role_ == Role::kStage) stage_done(item);
    else if (role_ == Role::kReduce) reduce_done(item);
    else gather_done(item);
  }

 private:
  static constexpr u32 kFirst = 0, kSecond = 1;

  PURLIN_HD u32 taken_step() const { return t_.step_count - 1; }  // the step that gather consumes
  PURLIN_HD bool push(u32 step) const { return p_.geometry.direction[step] == Direction::kPush; }
  // One stream for all consumers: only when they read it where it was staged.
  PURLIN_HD bool shared(u32 step) const { return shares_input(t_.steps[step]) && !push(step); }
  PURLIN_HD bool several_parts() const { return t_.step_count == 2 && !shares_input(t_.steps[1]); }

  // ---- Streams ------------------------------------------------------------------------------

  PURLIN_HD u32 stream_count() const {
    if (role_ == Role::kReduce) return 1;
    if (role_ == Role::kStage) return shared(kFirst) ? 1 : n_;
    return n_;
  }

  // Stream s of stage goes to rank + s, of gather comes from rank - s; 0 is own.
  PURLIN_HD u32 peer_of(u32 stream) const {
    return role_ == Role::kStage ? (p_.rank + stream) % n_ : (p_.rank + n_ - stream) % n_;
  }

  PURLIN_HD u64 shared_bytes(u32 step) const {  // of the one region that all consumers read
    if (!contains(t_.steps[step].stagers, p_.rank, p_.root)) return 0;
    return region_extent(step == 0 ? p_.input : share_shape(t_, p_, p_.rank), t_.steps[step].input,
                         n_, p_.rank, p_.rank).bytes;
  }

  PURLIN_HD Cut cut_of(u32 stream) const {
    u64 bytes = 0;
    if (role_ == Role::kReduce) {
      bytes = reduced_bytes();
    } else if (role_ == Role::kStage) {
      const u32 peer = peer_of(stream);
      if (shared(kFirst)) bytes = shared_bytes(kFirst);
      else if (peer != p_.rank || p_.scaled) bytes = staged(send_extent(t_, p_, kFirst, peer).bytes);
    } else if (several_parts()) {
      bytes = peer_share(peer_of(stream)).total_bytes;
    } else {
      const u32 peer = peer_of(stream);
      bytes = staged(receive_extent(t_, p_, taken_step(), peer).bytes);
    }
    return cut_stream(t_, p_, bytes);
  }

  // Of a pair's bytes those that are staged: none when they went by packets.
  PURLIN_HD u64 staged(u64 bytes) const { return bytes > p_.pair_limit ? bytes : 0; }

  // Bytes that the reduce role produces here.
  PURLIN_HD u64 reduced_bytes() const {
    if (!contains(t_.steps[0].consumers, p_.rank, p_.root)) return 0;
    if (t_.step_count == 2) return share_shape(t_, p_, p_.rank).total_bytes;
    return region_extent(p_.output, t_.steps[0].output, n_, p_.rank, p_.rank).bytes;
  }

  PURLIN_HD BufferShape peer_share(u32 peer) const { return share_shape(t_, p_, peer); }

  // Chunks of a stream that this role touches: all, but for gather from a share of several regions,
  // where only own region's chunks are.
  PURLIN_HD ChunkRange range_of(u32 stream) const {
    if (role_ == Role::kGather && t_.step_count == 2) {
      const u32 peer = peer_of(stream);
      if (peer == p_.rank || !flows(t_.steps[1], n_, p_.root, peer, p_.rank)) return {};
      if (several_parts()) {
        const Cut cut = cut_of(stream);
        const u64 part = part_of(peer, p_.rank);
        return {part * cut.chunks_per_part(), (part + 1) * cut.chunks_per_part()};
      }
    }
    return {0, cut_of(stream).chunks()};
  }

  // Which region of the share of `holder` is for `consumer`.
  PURLIN_HD u32 part_of(u32 holder, u32 consumer) const {
    return region_position(t_.steps[1].input, n_, holder, consumer);
  }

  PURLIN_HD Item item_at(u64 index) const {
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

  PURLIN_HD bool wait_word(const u64* word, u64 round, u32 peer, u32 step, u64 chunk) {
    const u64 value = flag_value(epoch_, round);
    return env_.wait([&] { return env_.observe(word) >= value; }, Site{peer, step, chunk});
  }
  PURLIN_HD void announce(u64* word, u64 round, u32 peer) {
    env_.signal(word, flag_value(epoch_, round));
    env_.ring(peer);
  }

  // ---- Stage --------------------------------------------------------------------------------

  PURLIN_HD void stage_segment(const Item& item, purlin_segment* out) const {
    const u32 peer = peer_of(item.stream);
    const Extent chunk = cut_of(item.stream).chunk(item.chunk);
    const u64 region = shared(kFirst)
        ? region_extent(p_.input, t_.steps[0].input, n_, p_.rank, p_.rank).offset
        : send_extent(t_, p_, kFirst, peer).offset;
    out->bytes = chunk.bytes;
    out->reduce = p_.scaled ? PURLIN_CONSUME_SCALE : PURLIN_CONSUME_COPY;
    out->src[0] = p_.in + region + chunk.offset;
    out->dst[0] = slot(kFirst, p_.rank, peer, item.slot);
  }

  PURLIN_HD bool stage_ready(const Item& item) {
    if (item.round == 0) return !env_.stopped();
    PURLIN_UNROLL
    for (u32 d = 0; d < n_; ++d) {
      const u32 consumer = (p_.rank + d) % n_;
      if (!staged_for(item, consumer)) continue;
      if (!wait_word(ack_at(p_, p_.rank, epoch_, kFirst, consumer, item.slot), item.round - 1,
                     consumer, kFirst, item.chunk - p_.geometry.slots))
        return false;
    }
    return true;
  }

  PURLIN_HD void stage_done(const Item& item) {
    PURLIN_UNROLL
    for (u32 d = 1; d < n_; ++d) {
      const u32 consumer = (p_.rank + d) % n_;
      if (staged_for(item, consumer))
        announce(flag_at(p_, consumer, epoch_, kFirst, p_.rank, item.slot), item.round, consumer);
    }
    if (staged_for(item, p_.rank))
      env_.signal(flag_at(p_, p_.rank, epoch_, kFirst, p_.rank, item.slot),
                  flag_value(epoch_, item.round));
    if (p_.exchange_in_place)
      env_.signal(own_flag_at(p_, epoch_, peer_of(item.stream), item.slot),
                  flag_value(epoch_, item.round));
  }

  // Whether the staged item is for `consumer`. Own rank takes its part from the input, unless scaled.
  PURLIN_HD bool staged_for(const Item& item, u32 consumer) const {
    if (consumer == p_.rank && !p_.scaled) return false;
    if (!shared(kFirst) && consumer != peer_of(item.stream)) return false;
    return flows(t_.steps[0], n_, p_.root, p_.rank, consumer);
  }

  // ---- Reduce (or the copy that begins a second step) -----------------------------------------

  PURLIN_HD bool is_source(u32 rank) const { return flows(t_.steps[0], n_, p_.root, rank, p_.rank); }
  PURLIN_HD bool taken_from_slot(u32 source) const { return source != p_.rank || p_.scaled; }

  // Whether chunk `chunk` of own share goes to `consumer` in the second step.
  PURLIN_HD bool wanted_by(u32 consumer, u64 chunk) const {
    if (!flows(t_.steps[1], n_, p_.root, p_.rank, consumer)) return false;
    return !several_parts() ||
           chunk / cut_of(0).chunks_per_part() == part_of(p_.rank, consumer);
  }

  PURLIN_HD void reduce_segment(const Item& item, purlin_segment* out) const {
    const Extent chunk = cut_of(0).chunk(item.chunk);
    out->bytes = chunk.bytes;
    out->reduce = t_.steps[0].consume == Consume::kReduce ? PURLIN_CONSUME_REDUCE
                                                          : PURLIN_CONSUME_COPY;
    u32 sources = 0;
    PURLIN_UNROLL
    for (u32 s = 0; s < n_; ++s) {
      if (!is_source(s)) continue;
      out->src[sources++] = taken_from_slot(s)
          ? slot(kFirst, s, p_.rank, item.slot)
          : p_.in + send_extent(t_, p_, kFirst, s).offset + chunk.offset;
    }
    out->nsrc = sources;
    if (t_.step_count == 1) {
      out->dst[0] = p_.out + receive_extent(t_, p_, 0, p_.rank).offset + chunk.offset;
      return;
    }
    u32 destinations = 0;
    const bool share = shared(kSecond);
    PURLIN_UNROLL
    for (u32 d = 0; d < n_; ++d) {
      const u32 consumer = (p_.rank + d) % n_;
      if (!wanted_by(consumer, item.chunk)) continue;
      if (d == 0) {
        const u64 part = several_parts() ? send_extent(t_, p_, 1, consumer).offset : 0;
        out->dst[destinations++] =
            p_.out + receive_extent(t_, p_, 1, consumer).offset + (chunk.offset - part);
      } else if (!share) {
        out->dst[destinations++] = slot(kSecond, p_.rank, consumer, item.slot);
      }
    }
    if (share) out->dst[destinations++] = slot(kSecond, p_.rank, p_.rank, item.slot);
    out->ndst = destinations;
  }

  PURLIN_HD bool reduce_ready(const Item& item) {
    PURLIN_UNROLL
    for (u32 d = 0; d < n_; ++d) {
      const u32 source = (p_.rank + n_ - d) % n_;
      if (!is_source(source) || !taken_from_slot(source)) continue;
      if (!wait_word(flag_at(p_, p_.rank, epoch_, kFirst, source, item.slot), item.round, source,
                     kFirst, item.chunk))
        return false;
    }
    if (t_.step_count == 1 || item.round == 0) return !env_.stopped();
    const u64 earlier = item.chunk - p_.geometry.slots;
    PURLIN_UNROLL
    for (u32 d = 1; d < n_; ++d) {
      const u32 consumer = (p_.rank + d) % n_;
      if (!wanted_by(consumer, earlier)) continue;
      if (!wait_word(ack_at(p_, p_.rank, epoch_, kSecond, consumer, item.slot), item.round - 1,
                     consumer, kSecond, earlier))
        return false;
    }
    return true;
  }

  PURLIN_HD void reduce_done(const Item& item) {
    const bool reused = item.chunk + p_.geometry.slots < cut_of(0).chunks();
    PURLIN_UNROLL
    for (u32 d = 0; d < n_; ++d) {
      const u32 source = (p_.rank + n_ - d) % n_;
      if (reused && is_source(source) && taken_from_slot(source))
        announce(ack_at(p_, source, epoch_, kFirst, p_.rank, item.slot), item.round, source);
    }
    if (t_.step_count == 1) return;
    PURLIN_UNROLL
    for (u32 d = 1; d < n_; ++d) {
      const u32 consumer = (p_.rank + d) % n_;
      if (wanted_by(consumer, item.chunk))
        announce(flag_at(p_, consumer, epoch_, kSecond, p_.rank, item.slot), item.round, consumer);
    }
  }

  // ---- Gather -------------------------------------------------------------------------------

  PURLIN_HD void gather_segment(const Item& item, purlin_segment* out) const {
    const u32 peer = peer_of(item.stream);
    const u32 step = taken_step();
    const Extent chunk = cut_of(item.stream).chunk(item.chunk);
    const u64 part = several_parts() ? part_of(peer, p_.rank) * p_.middle.part_bytes : 0;
    const u8* from = peer == p_.rank ? p_.in + send_extent(t_, p_, 0, peer).offset + chunk.offset
                                     : slot(step, peer, p_.rank, item.slot);
    u8* to = p_.out + receive_extent(t_, p_, step, peer).offset + (chunk.offset - part);
    out->bytes = from == to ? 0 : chunk.bytes;
    out->src[0] = from;
    out->dst[0] = to;
  }

  PURLIN_HD bool gather_ready(const Item& item) {
    const u32 peer = peer_of(item.stream);
    const u32 step = taken_step();
    if (peer == p_.rank) return !env_.stopped();
    if (!wait_word(flag_at(p_, p_.rank, epoch_, step, peer, item.slot), item.round, peer, step,
                   item.chunk))
      return false;
    // In place, the region that comes from a peer is overwritten where own chunk for it was read.
    return !p_.exchange_in_place ||
           wait_word(own_flag_at(p_, epoch_, peer, item.slot), item.round, p_.rank, step, item.chunk);
  }

  PURLIN_HD void gather_done(const Item& item) {
    const u32 peer = peer_of(item.stream);
    if (peer == p_.rank || item.chunk + p_.geometry.slots >= stream_end(item)) return;
    announce(ack_at(p_, peer, epoch_, taken_step(), p_.rank, item.slot), item.round, peer);
  }
  // A slot is used again while the whole stream, not only own part of it, goes on.
  PURLIN_HD u64 stream_end(const Item& item) const { return cut_of(item.stream).chunks(); }

  Env& env_;
  const CallParams& p_;
  const Transformation& t_;
  const u32 n_;
  const u64 epoch_;
  const Role role_;
  Walk walk_;
  u64 size_ = 0;
};

}  // namespace purlin::snac
