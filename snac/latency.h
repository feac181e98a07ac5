// The latency protocol: push. Packets carry 8 bytes of payload and a tag that no earlier packet in
// the same place has carried, so arrival needs no second message.
//
// A call runs in phases: (A) send what the first step sends, (B) consume the first step and, when
// there is a second, send its result at once, (C) consume the second. All packets of a call fit
// their half, so no phase waits for room. Block b of a region is touched by one lane alone, in all
// phases and for all peers: in-place forms need nothing more.
#pragma once

#include "snac/flow.h"
#include "snac/header.h"

namespace purlin::snac {

template <class Env>
class Latency {
 public:
  using Params = typename Env::Params;

  PURLIN_HD Latency(Env& env, const Params& params)
      : env_(env), p_(params), form_(env.form()), n_(env.nranks()) {}

  // False: the rank stopped.
  PURLIN_HD bool run() {
    send_first();
    env_.epoch_is_read();
    send_headers(env_, p_, epoch_);
    if (!consume_first()) return false;
    if (form_.steps == 2 && !consume_second()) return false;
    return wait_headers(env_, p_, epoch_, [&](u32 peer) { return !sends_packets(peer); });
  }

 private:
  using Block = typename Env::Block;
  using Raw = typename Env::Raw;
  static constexpr u32 kBlocksAhead = Env::kMaxSources - 1;
  static constexpr u32 kBlockBytes = Env::kBlockBytes;
  static constexpr u32 kBlockPackets = kBlockBytes / 8;

  // What goes by packets is at most kMostByPackets, so bytes and blocks fit signed words.
  PURLIN_HD static u32 bytes_in_block(u32 region_bytes, u32 block) {
    const int left = static_cast<int>(region_bytes - block * kBlockBytes);
    constexpr int kMost = static_cast<int>(kBlockBytes);
    return left <= 0 ? 0 : static_cast<u32>(left < kMost ? left : kMost);
  }
  PURLIN_HD u32 peer_at(u32 distance) const { return (p_.rank + distance) % n_; }
  PURLIN_HD u32 peer_behind(u32 distance) const { return (p_.rank + n_ - distance) % n_; }

  // Bytes that go by packets: none for pairs that are staged.
  PURLIN_HD u32 outgoing(u32 step, u32 to) const { return by_packets(env_.send(step, to).bytes); }
  PURLIN_HD u32 incoming(u32 step, u32 from) const {
    return by_packets(env_.receive(step, from).bytes);
  }
  PURLIN_HD u32 by_packets(u64 bytes) const {
    return bytes <= p_.pair_limit ? static_cast<u32>(bytes) : 0;
  }
  PURLIN_HD static void raise(u32& most, u32 bytes) {
    if (bytes > most) most = bytes;
  }
  // Own part included, which is no packets.
  PURLIN_HD u32 longest_received(u32 step) const {
    return env_.longest_received(step, [this, step] {
      u32 most = 0;
      for (u32 s = 0; s < n_; ++s) raise(most, incoming(step, s));
      return most;
    });
  }
  PURLIN_HD bool sends_packets(u32 peer) const {
    return incoming(0, peer) != 0 || (form_.steps == 2 && incoming(1, peer) != 0);
  }

  PURLIN_HD u64 tag_to(u32 peer) const { return packet_tag(epoch_, env_.send_signature(peer)); }
  PURLIN_HD u64 tag_from(u32 peer) const {
    return packet_tag(epoch_, env_.receive_signature(peer));
  }

  PURLIN_HD purlin_packet* outbox(u32 peer, u32 step, u32 block) const {
    return packets_at(p_, peer, epoch_, form_.steps, step, p_.rank) + block * kBlockPackets;
  }
  // What sending to a peer takes of the call's argument alone.
  struct Target {
    purlin_packet* even;  // where the first block goes in calls of an even epoch
    u32 bytes;
    u32 signature;
  };
  PURLIN_HD Target target(u32 step, u32 peer) const {
    return {packets_at(p_, peer, 0, form_.steps, step, p_.rank), outgoing(step, peer),
            env_.send_signature(peer)};
  }
  PURLIN_HD void send(const Target& to, const Block& block, u32 b) {
    const u32 bytes = bytes_in_block(to.bytes, b);
    if (bytes == 0) return;
    const u64 half = half_of(epoch_) * u64{n_} * p_.map.packets_per_source;
    env_.send_block(to.even + half + b * kBlockPackets, block, bytes,
                    packet_tag(epoch_, to.signature));
  }
  PURLIN_HD const purlin_packet* inbox(u32 peer, u32 step, u32 block) const {
    return packets_at(p_, p_.rank, epoch_, form_.steps, step, peer) + block * kBlockPackets;
  }

  // What is expected from `peer` in block b of `step`; no bytes: nothing.
  PURLIN_HD Expected expect(u32 peer, u32 step, u32 b) const {
    return Expected{inbox(peer, step, b), tag_from(peer), bytes_in_block(incoming(step, peer), b),
                    Site{peer, step, b * kBlockPackets}};
  }

  PURLIN_HD void load_input(Block& block, u64 offset, u32 bytes) {
    env_.load(block, p_.in + offset, bytes);
    if (p_.scaled) env_.scale(block, bytes);
  }

  // ---- Phase A ------------------------------------------------------------------------------

  // Blocks are fetched one round before they are sent, and the first before the epoch is known, and so is
  // what the argument says of the peers: where loads overlap, a round trip to memory is paid once.
  PURLIN_HD void send_first() {
    const u32 longest = env_.longest_sent(0, [this] {
      u32 most = 0;
      for (u32 d = 1; d < n_; ++d) raise(most, outgoing(0, peer_at(d)));
      return most;
    });
    u32 b = env_.first_block();
    env_.fetch_epoch();
    Raw raw[kBlocksAhead], next[kBlocksAhead];
    fetch(raw, longest, b);
    Target targets[kBlocksAhead];
    find(targets);
    epoch_ = env_.fetched_epoch();
    for (; b * kBlockBytes < longest; b += env_.block_stride()) {
      const u32 following = b + env_.block_stride();
      if (following * kBlockBytes < longest) fetch(next, longest, following);
      if (form_.shared[0]) {
        Block block;
        finish(block, raw[0], env_.own().offset, b, longest);
        send_shared(block, targets, b);
      } else {
        send_each(raw, targets, b);
      }
      PURLIN_UNROLL
      for (u32 i = 0; i < kBlocksAhead; ++i) raw[i] = next[i];
    }
    ring_all();
  }

  // What the first step sends of block b: one region for all consumers, or one for each distance.
  PURLIN_HD void fetch(Raw* raw, u32 longest, u32 b) {
    if (form_.shared[0]) {
      env_.fetch(raw[0], p_.in + env_.own().offset + b * kBlockBytes, bytes_in_block(longest, b));
      return;
    }
    PURLIN_UNROLL
    for (u32 d = 1; d < Env::kMaxSources; ++d) {
      if (d >= n_) break;
      env_.fetch(raw[d - 1], p_.in + env_.send(0, peer_at(d)).offset + b * kBlockBytes,
                 bytes_in_block(outgoing(0, peer_at(d)), b));
    }
  }
  PURLIN_HD void finish(Block& block, const Raw& raw, u64 region, u32 b, u32 region_bytes) {
    const u32 bytes = bytes_in_block(region_bytes, b);
    env_.finish(block, raw, p_.in + region + b * kBlockBytes, bytes);
    if (p_.scaled) env_.scale(block, bytes);
  }

  // Of the first step, by distance, less 1.
  PURLIN_HD void find(Target* targets) const {
    PURLIN_UNROLL
    for (u32 d = 1; d < Env::kMaxSources; ++d) {
      if (d >= n_) break;
      Target& one = targets[d - 1];
      one = target(0, peer_at(d));
      Env::settle(one.even, one.bytes, one.signature);
    }
  }
  PURLIN_HD void send_each(const Raw* raw, const Target* targets, u32 b) {
    PURLIN_UNROLL
    for (u32 d = 1; d < Env::kMaxSources; ++d) {
      if (d >= n_) break;
      const Target& to = targets[d - 1];
      if (bytes_in_block(to.bytes, b) == 0) continue;
      Block block;
      finish(block, raw[d - 1], env_.send(0, peer_at(d)).offset, b, to.bytes);
      send(to, block, b);
    }
  }
  // One region that every consumer reads.
  PURLIN_HD void send_shared(const Block& block, const Target* targets, u32 b) {
    PURLIN_UNROLL
    for (u32 d = 1; d < Env::kMaxSources; ++d) {
      if (d >= n_) break;
      send(targets[d - 1], block, b);
    }
  }

  PURLIN_HD void ring_all() {
    for (u32 d = 1; d < n_; ++d) env_.ring(peer_at(d));
  }

  // ---- Phase B ------------------------------------------------------------------------------

  PURLIN_HD bool consume_first() {
    const u32 longest = longest_received(0);
    for (u32 b = env_.first_block(); b * kBlockBytes < longest; b += env_.block_stride()) {
      const bool one = form_.steps == 2 || form_.reduces;
      if (!(form_.reduces ? reduce_block(b) : one ? copy_block(b) : consume_each(0, b)))
        return false;
    }
    if (form_.steps == 2) ring_all();
    return true;
  }

  // Each source's bytes to a place of their own. Index d - 1 is the distance to the source.
  PURLIN_HD bool consume_each(u32 step, u32 b) {
    Block blocks[Env::kMaxSources];
    u64 wanted = 0;
    PURLIN_UNROLL
    for (u32 d = 1; d < Env::kMaxSources; ++d) {
      if (d >= n_) break;
      wanted |= u64{bytes_in_block(incoming(step, peer_behind(d)), b) != 0} << (d - 1);
    }
    if (step == 0) copy_own(b);
    const auto expected = [&](u32 i) { return expect(peer_behind(i + 1), step, b); };
    if (!env_.receive_all(wanted, expected, blocks, n_ - 1)) return false;
    PURLIN_UNROLL
    for (u32 d = 1; d < Env::kMaxSources; ++d) {
      if (d >= n_) break;
      const u32 bytes = bytes_in_block(incoming(step, peer_behind(d)), b);
      const u64 to = env_.receive(step, peer_behind(d)).offset + b * kBlockBytes;
      if (bytes != 0) env_.store(p_.out + to, blocks[d - 1], bytes);
    }
    return true;
  }

  PURLIN_HD void copy_own(u32 b) {
    const u32 bytes = bytes_in_block(incoming(0, p_.rank), b);
    const u8* from = p_.in + env_.send(0, p_.rank).offset + b * kBlockBytes;
    u8* to = p_.out + env_.receive(0, p_.rank).offset + b * kBlockBytes;
    if (bytes == 0 || from == to) return;
    Block block;
    env_.load(block, from, bytes);
    env_.store(to, block, bytes);
  }

  // Sources in rank order; which they are is a constant of the program, so indices are too.
  PURLIN_HD bool reduce_block(u32 b) {
    Block own;
    const u32 own_bytes = bytes_in_block(incoming(0, p_.rank), b);
    if (own_bytes != 0) load_input(own, env_.send(0, p_.rank).offset + b * kBlockBytes, own_bytes);
    // By rank. Own bytes stand in every place at first, which spares an index known at run time
    // alone: places with such an index would lie in memory.
    Block blocks[Env::kMaxSources];
    u64 wanted = 0;
    u32 bytes = 0;
    PURLIN_UNROLL
    for (u32 s = 0; s < Env::kMaxSources; ++s) {
      if (s >= n_) break;
      if ((form_.sources >> s & 1) == 0) continue;
      bytes = bytes_in_block(incoming(0, s), b);
      env_.move(blocks[s], own);
      if (s != p_.rank) wanted |= u64{1} << s;
    }
    if (bytes == 0) return true;
    const auto expected = [&](u32 s) { return expect(s, 0, b); };
    if (!env_.receive_all(wanted, expected, blocks, n_)) return false;
    u32 sources = 0;
    PURLIN_UNROLL
    for (u32 s = 0; s < Env::kMaxSources; ++s) {
      if (s >= n_) break;
      if ((form_.sources >> s & 1) == 0) continue;
      if (sources != s) env_.move(blocks[sources], blocks[s]);
      ++sources;
    }
    env_.reduce(blocks, sources, bytes);
    return place(blocks[0], b, bytes);
  }

  // Two steps that copy: one source.
  PURLIN_HD bool copy_block(u32 b) {
    u32 source = 0;
    for (u32 s = 0; s < n_; ++s)
      if (incoming(0, s) != 0) source = s;
    Expected expected = expect(source, 0, b);
    const u32 bytes = static_cast<u32>(expected.bytes);
    Block block;
    if (source == p_.rank) {
      env_.load(block, p_.in + env_.send(0, source).offset + b * kBlockBytes, bytes);
      expected.bytes = 0;
    }
    const u64 wanted = expected.bytes != 0 ? 1 : 0;
    if (!env_.receive_all(
            wanted, [&](u32) { return expected; }, &block, 1))
      return false;
    return place(block, b, bytes);
  }

  PURLIN_HD bool place(const Block& result, u32 b, u32 bytes) {
    if (form_.steps == 2)
      pass_on(result, b, bytes);
    else
      env_.store(p_.out + env_.receive(0, p_.rank).offset + b * kBlockBytes, result, bytes);
    return true;
  }

  // The result of the first step: into own output and to the second step's consumers.
  PURLIN_HD void pass_on(const Block& result, u32 b, u32 bytes) {
    if (form_.shared[1]) {
      if (env_.receive(1, p_.rank).bytes != 0)
        env_.store(p_.out + env_.receive(1, p_.rank).offset + b * kBlockBytes, result, bytes);
      PURLIN_UNROLL
      for (u32 d = 1; d < Env::kMaxSources; ++d) {
        if (d >= n_) break;
        send(target(1, peer_at(d)), result, b);
      }
      return;
    }
    // The share holds a region for each consumer: cut the block where regions end.
    for (u32 d = 0; d < n_; ++d) {
      const u32 peer = peer_at(d);
      const Extent part = env_.send(1, peer);
      const u64 begin = larger(part.offset, b * kBlockBytes);
      const u64 end = smaller(part.offset + part.bytes, b * kBlockBytes + bytes);
      if (begin >= end) continue;
      Block piece;
      env_.slice(piece, result, begin - b * kBlockBytes, end - begin);
      const u64 within = begin - part.offset;
      if (d == 0)
        env_.store(p_.out + env_.receive(1, peer).offset + within, piece, end - begin);
      else
        env_.send_block(outbox(peer, 1, 0) + within / 8, piece, end - begin, tag_to(peer));
    }
  }

  // ---- Phase C ------------------------------------------------------------------------------

  PURLIN_HD bool consume_second() {
    const u32 longest = longest_received(1);
    for (u32 b = env_.first_block(); b * kBlockBytes < longest; b += env_.block_stride())
      if (!consume_each(1, b)) return false;
    return true;
  }

  Env& env_;
  const Params& p_;
  const Form form_;
  const u32 n_;
  u64 epoch_ = 0;
};

}  // namespace purlin::snac
