// The wire: the memory that each rank offers to its peers, byte by byte. docs/protocol.md draws it.
//
// All ranks agree on a WireConfig when the communicator is created; the map follows from it, so that
// a rank finds everything in a peer's memory from one base address. The memory is zeroed on all ranks
// before anyone may signal.
#pragma once

#include "purlin/atom_abi.h"
#include "snac/platform.h"

namespace purlin::snac {

// Slots of one stream of chunks; bounds the flag words.
inline constexpr u32 kMaxSlots = 128;

// Windows that are open at a time.
inline constexpr u32 kWindows = 256;

struct WireConfig {
  u32 nranks = 1;
  u32 max_ctas = 1;           // epoch words
  u64 latency_bytes = 0;      // packet memory of one half
  u64 throughput_bytes = 0;   // staging of one half
  u64 switch_bytes = 0;       // switch staging of one half; 0: the switch is not used
  u32 pair_slots = 0;         // Send/Recv: slots for each ordered pair
  u32 pair_slot_bytes = 0;    // of a slot's chunk
  u32 pair_packet_bytes = 0;  // of a slot's packets: memory, twice the payload
  u32 exit_words = 1;         // of each consumer and step: GPU ranks one for each CTA, host ranks one
};

// What a rank leaves behind when it stops; the first reason wins. Written by the rank that stops,
// read by its host and by its peers'.
enum class StopKind : u32 {
  kNone = 0,
  kTimeout = 1,     // `rank` waited for `peer` beyond the limit
  kMismatch = 2,    // the calls of `rank` and `peer` differ
  kAborted = 3,     // abort was asked for
  kPeerLost = 4,    // the process of `peer` is gone
  kCountBound = 5,  // a count in device memory exceeds the bound of the call
  kTold = 6,        // told to stop while waiting for `peer`; why is in Control::stop
  kRefused = 7,     // `peer` refused its side of the call
  kUnreadable = 8,  // `rank` may not read the input of `peer`; errno is in found_bytes
  kNoWindow = 9     // `peer` names a place that `rank` has not mapped; its window is in found_bytes
};

struct StopRecord {
  StopKind kind = StopKind::kNone;
  u32 rank = 0;
  u32 peer = 0;
  u32 step = 0;         // with kExitStep or without
  u64 epoch = 0;
  u64 chunk = 0;        // chunk or packet index that was waited for; with kExitStep, a CTA of `peer`
  u64 expected_call = 0;  // call descriptors, see call.h; 0 if none
  u64 found_call = 0;
  u64 expected_bytes = 0;  // of the pair
  u64 found_bytes = 0;
};
static_assert(sizeof(StopRecord) == 64);

// In a step: `rank` waited until `peer` had read its buffer, not for bytes of `peer`.
inline constexpr u32 kExitStep = 0x8000'0000;

// Values of Control::stop beyond 1 + the rank that says so.
inline constexpr u32 kStopPeerLost = 0x4000'0000;  // the host noticed that a process is gone
inline constexpr u32 kStopAborted = 0x2000'0000;   // + the rank whose host asked for the end

// A peer that refuses its call and makes a right one next is no error: it gets this long.
inline constexpr u64 kRefusalGraceNs = 1'000'000'000;

// A pair of more bytes goes by chunks however many its packets could carry.
inline constexpr u64 kMostByPackets = u64{1} << 30;

// A rank's word to its waits and its last words. The Controls of all ranks lie in rank order in one
// table of host memory, so that hosts read them while kernels run and after they have ended.
struct Control {
  u32 stop;      // nonzero: end every wait; 1 + the rank that said so, or kStopPeerLost
  u32 sleeping;  // host ranks: the owner sleeps on `doorbell`
  u32 doorbell;  // futex word
  u32 claimed;   // set by the first writer of `record`
  u32 recorded;  // set with release once `record` is whole
  u32 reserved;
  u64 refused;   // 0: none. Host ranks: epoch of the call that the owner refused for its arguments.
                 // GPU ranks: 1 until the owner's next call that is launched
  u64 reserved_words[4];
  StopRecord record;
};
static_assert(sizeof(Control) == 128);

// Two packets from each peer in each call: what it is about to do. See call.h.
struct Header {
  purlin_packet bytes;  // payload: bytes of the pair's first step
  purlin_packet call;   // payload: call descriptor
};
static_assert(sizeof(Header) == 32);

// Written by a source when its call begins: where it offers its bytes of each step. See window.h.
struct Entry {
  u64 place[2];  // 0: in slots
  u64 epoch;     // released once the places are there, and so is the input
  u64 reserved;
};
static_assert(sizeof(Entry) == 32);

// One rank's buffer of a window as it is mapped here.
struct WindowBuffer {
  u64 base;   // 0: not mapped
  u64 bytes;
};

// GPU ranks: what their kernels poll, first in a rank's block and so in its own GPU's memory. A look at
// host memory costs a kernel a microsecond, and many looks wait for one another.
struct DeviceControl {
  u64 stop;     // as Control::stop
  u32 claimed;  // set by the first writer of the record
};

// Byte offsets from the base of a rank's memory.
struct WireMap {
  u64 control = 0;   // DeviceControl
  u64 epochs = 0;    // u64 [max_ctas]: the epoch of the last finished call, read by CTA b at b
  u64 headers = 0;   // Header [half][source]
  u64 entries = 0;   // Entry [half][source]
  u64 exits = 0;     // u64 [step][consumer][exit_words]: the call in which it read last
  u64 windows = 0;   // [kWindows]: u64 number, u64 unused, WindowBuffer [rank]; written by the own host
  u64 flags = 0;     // u64 [half][step][source * slots + slot]: chunk announced
  u64 own = 0;       // u64 [half][peer * slots + slot]: own chunk staged (in-place exchange)
  u64 acks = 0;      // u64 [half][step][consumer * slots + slot]: chunk consumed
  u64 packets = 0;   // purlin_packet [half][source][packets_per_source]
  u64 staging = 0;   // bytes [half][throughput_bytes]
  u64 switched = 0;      // bytes [half][switch_bytes]; GPU ranks: in memory of its own instead
  u64 pair_words = 0;    // PairWords [peer], see pair_params.h
  u64 pair_packets = 0;  // purlin_packet [source][slot][pair_packet_bytes / 16]
  u64 pair_slots = 0;    // bytes [source][slot][pair_slot_bytes]
  u64 total = 0;
  u64 flag_words = 0;          // of one half and step
  u64 packets_per_source = 0;  // of one half
  u64 staging_bytes = 0;       // of one half
  u64 switch_bytes = 0;        // of one half
  u32 exit_words = 0;
};

// Bytes of one window's line.
PURLIN_HD constexpr u64 window_line_bytes(u32 nranks) { return (1 + nranks) * sizeof(WindowBuffer); }

// Bytes of a rank's bookkeeping about one peer for Send/Recv: for each slot a header, a flag, an
// acknowledgment, and the numbers of the next unit to send and to receive. See pair_params.h.
PURLIN_HD constexpr u64 pair_word_bytes(u32 slots) { return slots * (sizeof(Header) + 4 * 8); }

constexpr WireMap map_wire(const WireConfig& config) {
  constexpr u64 kPage = 4096;
  WireMap map;
  map.flag_words = u64{config.nranks} * kMaxSlots;
  map.packets_per_source = config.latency_bytes / config.nranks / sizeof(purlin_packet);
  map.staging_bytes = config.throughput_bytes;
  map.switch_bytes = config.switch_bytes;
  map.exit_words = config.exit_words;
  u64 at = 0;
  auto take = [&at](u64 bytes, u64 alignment) {
    const u64 begin = round_up(at, alignment);
    at = begin + bytes;
    return begin;
  };
  map.control = take(sizeof(DeviceControl), 128);
  map.epochs = take(u64{config.max_ctas} * 8, 128);
  map.headers = take(u64{2} * config.nranks * sizeof(Header), 128);
  map.entries = take(u64{2} * config.nranks * sizeof(Entry), 128);
  map.exits = take(u64{2} * config.nranks * config.exit_words * 8, 128);
  map.windows = take(kWindows * window_line_bytes(config.nranks), 128);
  map.flags = take(2 * 2 * map.flag_words * 8, 128);
  map.own = take(2 * map.flag_words * 8, 128);
  map.acks = take(2 * 2 * map.flag_words * 8, 128);
  map.pair_words = take(config.nranks * pair_word_bytes(config.pair_slots), 128);
  map.packets = take(2 * config.nranks * map.packets_per_source * sizeof(purlin_packet), kPage);
  map.staging = take(2 * config.throughput_bytes, kPage);
  map.switched = take(2 * config.switch_bytes, kPage);
  map.pair_packets = take(u64{config.nranks} * config.pair_slots * config.pair_packet_bytes, kPage);
  map.pair_slots = take(u64{config.nranks} * config.pair_slots * config.pair_slot_bytes, kPage);
  map.total = round_up(at, kPage);
  return map;
}

}  // namespace purlin::snac
