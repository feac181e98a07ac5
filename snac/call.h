// One call as SNAC sees it: everything that is known at launch. Trivially copyable: it is a kernel's
// argument. What the layouts say is worked out before (flow.h) and stands here as plain offsets and
// sizes, so that device code indexes instead of deriving, and one program serves every layout.
#pragma once

#include "snac/collectives.h"
#include "snac/epoch.h"
#include "snac/shape.h"
#include "snac/wire.h"

namespace purlin::snac {

// What a call is, in 64 bits that travel in its header, so that a rank which disagrees can name both
// sides: collective 6 bits, dtype 4, op 4, root 7, count modulo 2^43.
constexpr u64 describe_call(Collective collective, u32 dtype, u32 op, u32 root, u64 count) {
  return (static_cast<u64>(collective) & 0x3f) | (u64{dtype} & 0xf) << 6 | (u64{op} & 0xf) << 10 |
         (u64{root} & 0x7f) << 14 | (count & ((u64{1} << 43) - 1)) << 21;
}
constexpr u32 described_collective(u64 call) { return static_cast<u32>(call & 0x3f); }
constexpr u32 described_dtype(u64 call) { return static_cast<u32>(call >> 6 & 0xf); }
constexpr u32 described_op(u64 call) { return static_cast<u32>(call >> 10 & 0xf); }
constexpr u32 described_root(u64 call) { return static_cast<u32>(call >> 14 & 0x7f); }
constexpr u64 described_count(u64 call) { return call >> 21; }

// Who holds the staging of a step, and so who writes across the link.
enum class Direction : u32 {
  kPull = 0,  // the stager; consumers read its memory
  kPush = 1   // each consumer; stagers write into its memory
};

// How a call's chunks lie in the staging. Follows from the wire and the call alone, never from a
// rank's own grid: equal on all ranks.
struct Geometry {
  u32 chunk_shift = 4;  // chunks are powers of two, so that the device divides by shifting
  u32 slots = 1;        // of one stream, 1 .. kMaxSlots
  Direction direction[2] = {Direction::kPull, Direction::kPull};
  u64 step_offset[2] = {0, 0};  // of a step's slots within the half

  PURLIN_HD u64 chunk_bytes() const { return u64{1} << chunk_shift; }
};

// What of a transformation changes the code that runs, and so is compiled into a device program.
// Everything else about it is in the flows of CallParams.
struct Form {
  u32 steps = 1;
  bool reduces = false;             // step 0 combines its sources
  bool shared[2] = {false, false};  // every consumer of the step reads one region of a stager
  bool push[2] = {false, false};    // the step's staging lies at its consumers
  bool parts = false;               // two steps, and a share holds a region for each consumer
  bool everyone = true;             // two steps: all ranks consume the second
  bool listed = false;              // a V form whose counts the kernel reads: see ListedCall
  bool windows = false;             // sources may offer places in windows: see window.h
  u64 sources = 0;                  // reducing: the ranks that are combined
};

// A V form whose counts are read when the call runs: how the buffers of one rank are divided, and what the
// counts are held against, in elements. The arrays are the caller's. V forms have one step.
struct ListedCall {
  u32 input_packed = 0;  // the one region is own part: its shape lists that alone
  u32 output_packed = 0;
  BufferShape input;
  BufferShape output;
  u64 call_hash = 0;  // 0 when checking is off
  u64 bound_part = 0;
  u64 bound_total = 0;
};

// One call as a rank sees it, for at most kPeers ranks. Flows of no bytes are pairs that exchange
// nothing.
template <u32 kPeers>
struct CallParamsOf {
  static constexpr u32 kMostPeers = kPeers;

  u32 nranks = 1;
  u32 rank = 0;
  u32 epoch_words = 1;        // of the wire: one for each CTA of the largest grid
  u32 epoch_goes_on = 0;      // GPU ranks: 1: another launch of the same call follows, in this epoch
  u32 scaled = 0;             // own input is multiplied by the program's scalar while staged
  u32 exchange_in_place = 0;  // in-place AllToAll: a region is overwritten where it was staged from
  u32 ctas[3] = {1, 1, 1};    // of the roles stage, reduce (or consume), gather
  u32 dtype = 0;              // for programs that serve every type and operation; op is
  u32 op = 0;                 // PURLIN_PREMUL_SUM where own input is scaled
  u64 pair_limit = 0;         // pairs of at most so many bytes use packets: all (~0), none (0), or,
                              // in an AllToAllV, those that both ends know to be small
  u32 longest_sent[2] = {};   // GPU ranks, of each step: the largest pair by packets to another rank, and
  u32 longest_received[2] = {};  // from any, own part included
  u64 descriptor = 0;         // describe_call
  u64 timeout_ns = 0;
  u64 place[2] = {};          // where own bytes of each step lie in a window; 0: they are staged
  u64 scalar = 0;             // bits of a pre-multiplied sum's factor
  const u8* in = nullptr;
  u8* out = nullptr;
  Geometry geometry;
  WireMap map;
  Extent own;                 // shared[0]: the one region of own input
  u64 share_bytes = 0;        // two steps: of own share
  u64 part_bytes = 0;         // parts: of one region of a share
  Control* controls = nullptr;  // of every rank, as mapped here
  u8* replica = nullptr;      // GPU ranks' switch staging: own replica by its own address,
  u8* view = nullptr;         // and all replicas by their common one
  u8* peers[kPeers] = {};     // base of every rank's memory as mapped here, own included
  Extent send[2][kPeers] = {};     // to each peer: step 0 in the user's input, step 1 in the share
  Extent receive[2][kPeers] = {};  // from each peer: in the share (step 0 of two), else in the output
  u32 send_signature[kPeers] = {};     // of each pair, see epoch.h
  u32 receive_signature[kPeers] = {};
  ListedCall listed;  // then flows and signatures, but for the bytes, which are bounds, say nothing
};
using CallParams = CallParamsOf<kMaxRanks>;

template <class Params>
PURLIN_HD Control* control_of(const Params& p, u32 rank) {
  return p.controls + rank;
}

template <class Params>
PURLIN_HD DeviceControl* device_control_of(const Params& p, u32 rank) {
  return reinterpret_cast<DeviceControl*>(p.peers[rank] + p.map.control);
}

template <class Params>
PURLIN_HD u64* epoch_word(const Params& p, u32 cta) {
  return reinterpret_cast<u64*>(p.peers[p.rank] + p.map.epochs) + cta;
}

// Header that `source` writes into the memory of `owner`.
template <class Params>
PURLIN_HD Header* header_at(const Params& p, u32 owner, u64 epoch, u32 source) {
  return reinterpret_cast<Header*>(p.peers[owner] + p.map.headers) +
         (half_of(epoch) * p.nranks + source);
}

template <class Params>
PURLIN_HD u64* word_at(const Params& p, u64 section, u32 owner, u64 index) {
  return reinterpret_cast<u64*>(p.peers[owner] + section) + index;
}

template <class Params>
PURLIN_HD u64 word_index(const Params& p, u64 epoch, u32 step, u32 rank, u32 slot) {
  return (half_of(epoch) * u64{2} + step) * p.map.flag_words + u64{rank} * p.geometry.slots + slot;
}

// "Chunk in `slot` from `source` is staged", in the memory of the consumer.
template <class Params>
PURLIN_HD u64* flag_at(const Params& p, u32 consumer, u64 epoch, u32 step, u32 source, u32 slot) {
  return word_at(p, p.map.flags, consumer, word_index(p, epoch, step, source, slot));
}

// "Chunk in `slot` was consumed by `consumer`", in the memory of the stager.
template <class Params>
PURLIN_HD u64* ack_at(const Params& p, u32 stager, u64 epoch, u32 step, u32 consumer, u32 slot) {
  return word_at(p, p.map.acks, stager, word_index(p, epoch, step, consumer, slot));
}

// "My own chunk for `peer` in `slot` is staged", in own memory.
template <class Params>
PURLIN_HD u64* own_flag_at(const Params& p, u64 epoch, u32 peer, u32 slot) {
  return word_at(p, p.map.own, p.rank,
                 half_of(epoch) * p.map.flag_words + u64{peer} * p.geometry.slots + slot);
}

// First packet that `source` sends in `step` of a call of `steps` steps into the memory of `owner`.
template <class Params>
PURLIN_HD purlin_packet* packets_at(const Params& p, u32 owner, u64 epoch, u32 steps, u32 step,
                                    u32 source) {
  auto* packets = reinterpret_cast<purlin_packet*>(p.peers[owner] + p.map.packets);
  const u64 region = (half_of(epoch) * u64{p.nranks} + source) * p.map.packets_per_source;
  return packets + region + (steps == 2 && step == 1 ? p.map.packets_per_source / 2 : 0);
}

// Where chunk `slot` of the stream stager -> consumer lies. `shared`: all consumers read one stream.
template <class Params>
PURLIN_HD u8* slot_at(const Params& p, u64 epoch, u32 step, u32 stager, u32 consumer, bool shared,
                      u32 slot) {
  const bool push = p.geometry.direction[step] == Direction::kPush;
  const u32 owner = push ? consumer : stager;
  const u32 stream = push ? stager : shared ? 0 : consumer;
  return p.peers[owner] + p.map.staging + half_of(epoch) * p.map.staging_bytes +
         p.geometry.step_offset[step] +
         ((u64{stream} * p.geometry.slots + slot) << p.geometry.chunk_shift);
}

// Where slot `slot` of the region of rank `region` lies in the switch staging: the same in each replica.
template <class Params>
PURLIN_HD u64 switch_slot(const Params& p, u64 epoch, u32 region, u32 slot) {
  return half_of(epoch) * p.map.switch_bytes +
         ((u64{region} * p.geometry.slots + slot) << p.geometry.chunk_shift);
}

}  // namespace purlin::snac
