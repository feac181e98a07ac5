// The latency protocol: push. Packets carry 8 bytes of payload and a tag that no earlier packet in
// the same place has carried, so arrival needs no second message.
//
// A call runs in phases: (A) send what the first step sends, (B) consume the first step and, when
// there is a second, send its result at once, (C) consume the second. All packets of a call fit their
// half, so no phase waits for room. Block b of a region is touched by one lane alone, in all phases
// and for all peers: in-place forms need nothing more.
#pragma once

#include "snac/header.h"

namespace purlin::snac {

template <class Env>
class Latency {
 public:
  PURLIN_HD Latency(Env& env, const CallParams& params, u64 epoch)
      : env_(env), p_(params), t_(env.transformation()), n_(env.nranks()), epoch_(epoch) {}

  // False: the rank stopped.
  PURLIN_HD bool run() {
    send_headers(env_, p_, epoch_);
    send_first();
    if (!consume_first()) return false;
    if (t_.step_count == 2 && !consume_second()) return false;
    return wait_headers(env_, p_, epoch_,
                        [&](u32 peer) { return !peer_sends_packets(t_, p_, peer); });
  }

 private:
  using Block = typename Env::Block;
  static constexpr u64 kBlockBytes = Env::kBlockBytes;
  static constexpr u64 kBlockPackets = kBlockBytes / 8;

  PURLIN_HD static u64 bytes_in_block(u64 region_bytes, u64 block) {
    const u64 begin = block * kBlockBytes;
    return begin >= region_bytes ? 0 : smaller(kBlockBytes, region_bytes - begin);
  }

  PURLIN_HD u64 tag_to(u32 peer) const {
    return packet_tag(epoch_, pair_signature(p_.call_hash, send_extent(t_, p_, 0, peer).bytes));
  }
  PURLIN_HD u64 tag_from(u32 peer) const {
    return packet_tag(epoch_, pair_signature(p_.call_hash, expected_bytes(t_, p_, peer)));
  }

  PURLIN_HD purlin_packet* outbox(u32 peer, u32 step, u64 block) const {
    return packets_at(p_, peer, epoch_, t_.step_count, step, p_.rank) + block * kBlockPackets;
  }
  PURLIN_HD const purlin_packet* inbox(u32 peer, u32 step, u64 block) const {
    return packets_at(p_, p_.rank, epoch_, t_.step_count, step, peer) + block * kBlockPackets;
  }

  PURLIN_HD void load_input(Block& block, const u8* from, u64 bytes) {
    env_.load(block, from, bytes);
    if (p_.scaled) env_.scale(block, bytes);
  }

  PURLIN_HD void send_first() {
    u64 longest = 0;
    PURLIN_UNROLL
    for (u32 d = 1; d < n_; ++d)
      longest = larger(longest, packets_out(t_, p_, 0, (p_.rank + d) % n_).bytes);
    for (u64 b = env_.first_block(); b * kBlockBytes < longest; b += env_.block_stride()) {
      if (shares_input(t_.steps[0])) {
        Block block;
        load_input(block, p_.in + b * kBlockBytes, bytes_in_block(longest, b));
        send_shared(block, 0, b);
      } else {
        PURLIN_UNROLL
        for (u32 d = 1; d < n_; ++d) {
          const u32 peer = (p_.rank + d) % n_;
          const Extent extent = packets_out(t_, p_, 0, peer);
          const u64 bytes = bytes_in_block(extent.bytes, b);
          if (bytes == 0) continue;
          Block block;
          load_input(block, p_.in + extent.offset + b * kBlockBytes, bytes);
          env_.send(outbox(peer, 0, b), block, bytes, tag_to(peer));
        }
      }
    }
    PURLIN_UNROLL
    for (u32 d = 1; d < n_; ++d) env_.ring((p_.rank + d) % n_);
  }

  // One region that every consumer of `step` reads.
  PURLIN_HD void send_shared(const Block& block, u32 step, u64 b) {
    PURLIN_UNROLL
    for (u32 d = 1; d < n_; ++d) {
      const u32 peer = (p_.rank + d) % n_;
      const u64 bytes = bytes_in_block(packets_out(t_, p_, step, peer).bytes, b);
      if (bytes != 0) env_.send(outbox(peer, step, b), block, bytes, tag_to(peer));
    }
  }

  PURLIN_HD bool receive(Block& block, u32 peer, u32 step, u64 b, u64 bytes) {
    return env_.receive(inbox(peer, step, b), block, bytes, tag_from(peer),
                        Site{peer, step, b * kBlockPackets});
  }

  PURLIN_HD bool consume_first() {
    const bool one_output = t_.step_count == 2 || t_.steps[0].consume == Consume::kReduce;
    u64 longest = 0;
    PURLIN_UNROLL
    for (u32 s = 0; s < n_; ++s) longest = larger(longest, packets_in(t_, p_, 0, s).bytes);
    for (u64 b = env_.first_block(); b * kBlockBytes < longest; b += env_.block_stride()) {
      if (!(one_output ? consume_into_one(b) : consume_each(b))) return false;
    }
    if (t_.step_count == 2) {
      PURLIN_UNROLL
      for (u32 d = 1; d < n_; ++d) env_.ring((p_.rank + d) % n_);
    }
    return true;
  }

  // Each source's bytes to a place of their own.
  PURLIN_HD bool consume_each(u64 b) {
    PURLIN_UNROLL
    for (u32 d = 0; d < n_; ++d) {
      const u32 peer = (p_.rank + n_ - d) % n_;
      const Extent to = packets_in(t_, p_, 0, peer);
      const u64 bytes = bytes_in_block(to.bytes, b);
      if (bytes == 0) continue;
      Block block;
      if (d == 0) {
        const u8* from = p_.in + send_extent(t_, p_, 0, p_.rank).offset + b * kBlockBytes;
        if (from == p_.out + to.offset + b * kBlockBytes) continue;
        env_.load(block, from, bytes);
      } else if (!receive(block, peer, 0, b, bytes)) {
        return false;
      }
      env_.store(p_.out + to.offset + b * kBlockBytes, block, bytes);
    }
    return true;
  }

  // All sources, in rank order, to one block; then on to where the second step wants it.
  PURLIN_HD bool consume_into_one(u64 b) {
    const Step& first = t_.steps[0];
    Block blocks[Env::kMaxSources];
    u32 sources = 0;
    u64 bytes = 0;
    PURLIN_UNROLL
    for (u32 s = 0; s < n_; ++s) {
      if (!flows(first, n_, p_.root, s, p_.rank)) continue;
      bytes = bytes_in_block(packets_in(t_, p_, 0, s).bytes, b);
      if (s == p_.rank) {
        load_input(blocks[sources], p_.in + send_extent(t_, p_, 0, s).offset + b * kBlockBytes,
                   bytes);
      } else if (!receive(blocks[sources], s, 0, b, bytes)) {
        return false;
      }
      ++sources;
    }
    if (sources == 0) return true;
    if (first.consume == Consume::kReduce) env_.reduce(blocks, sources, bytes);
    const Block& result = blocks[0];
    if (t_.step_count == 1) {
      env_.store(p_.out + packets_in(t_, p_, 0, p_.rank).offset + b * kBlockBytes, result, bytes);
      return true;
    }
    pass_on(result, b, bytes);
    return true;
  }

  // The result of the first step: into own output and to the second step's consumers.
  PURLIN_HD void pass_on(const Block& result, u64 b, u64 bytes) {
    const Step& second = t_.steps[1];
    if (shares_input(second)) {
      if (flows(second, n_, p_.root, p_.rank, p_.rank))
        env_.store(p_.out + packets_in(t_, p_, 1, p_.rank).offset + b * kBlockBytes, result,
                   bytes);
      send_shared(result, 1, b);
      return;
    }
    // The share holds a region for each consumer: cut the block where regions end.
    PURLIN_UNROLL
    for (u32 d = 0; d < n_; ++d) {
      const u32 peer = (p_.rank + d) % n_;
      const Extent part = packets_out(t_, p_, 1, peer);
      const u64 begin = larger(part.offset, b * kBlockBytes);
      const u64 end = smaller(part.offset + part.bytes, b * kBlockBytes + bytes);
      if (begin >= end) continue;
      Block piece;
      env_.slice(piece, result, begin - b * kBlockBytes, end - begin);
      if (d == 0) {
        env_.store(p_.out + packets_in(t_, p_, 1, peer).offset + (begin - part.offset), piece,
                   end - begin);
      } else {
        env_.send(packets_at(p_, peer, epoch_, 2, 1, p_.rank) + (begin - part.offset) / 8, piece,
                  end - begin, tag_to(peer));
      }
    }
  }

  PURLIN_HD bool consume_second() {
    u64 longest = 0;
    PURLIN_UNROLL
    for (u32 d = 1; d < n_; ++d)
      longest = larger(longest, packets_in(t_, p_, 1, (p_.rank + n_ - d) % n_).bytes);
    for (u64 b = env_.first_block(); b * kBlockBytes < longest; b += env_.block_stride()) {
      PURLIN_UNROLL
      for (u32 d = 1; d < n_; ++d) {
        const u32 peer = (p_.rank + n_ - d) % n_;
        const Extent to = packets_in(t_, p_, 1, peer);
        const u64 bytes = bytes_in_block(to.bytes, b);
        if (bytes == 0) continue;
        Block block;
        if (!receive(block, peer, 1, b, bytes)) return false;
        env_.store(p_.out + to.offset + b * kBlockBytes, block, bytes);
      }
    }
    return true;
  }

  Env& env_;
  const CallParams& p_;
  const Transformation& t_;
  const u32 n_;
  const u64 epoch_;
};

}  // namespace purlin::snac
