// Send and receive: one direction of one ordered pair of ranks, unit after unit.
//
// A sender waits until the receiver has taken what lay in the slot, stores the unit, then says that
// it is here; a receiver waits for that, takes the unit, then says that it did. Neither touches the
// epoch or any other pair, so ranks and pairs that take no part stay as they are. Streams of one
// rank are independent of each other: whoever drives them must let any of them go on while others
// wait.
#pragma once

#include "snac/header.h"
#include "snac/pair_params.h"

namespace purlin::snac {

enum class PairSide : u32 { kSend = 0, kReceive = 1, kSelf = 2 };

// Where a wait of a stream stands, for the record of a stop.
struct PairSite {
  u32 peer = 0;
  PairSide side = PairSide::kSend;
  u64 unit = 0;        // of the pair, from 1
  u64 chunk = 0;       // of the message
  u64 descriptor = 0;  // of the message
};

enum class UnitState : u32 { kNotYet, kReady, kStop };

template <class Env>
class PairStream {
 public:
  using Params = typename Env::Params;

  // Serves the units whose slot is `part` modulo p.ctas.
  PURLIN_HD PairStream(Env& env, const Params& params, PairSide side, u32 peer, u32 part)
      : env_(env),
        p_(params),
        side_(side),
        peer_(peer),
        part_(part),
        list_(side == PairSide::kReceive ? params.receives[peer] : params.sends[peer]),
        base_(side == PairSide::kSelf ? 0 : *counter(part)),
        first_((part + params.ctas - base_ % params.ctas) % params.ctas),
        end_(own_units_below(list_.units)) {}

  PURLIN_HD bool finished() const { return next_ == end_; }
  PURLIN_HD bool by_packets() const { return unit_at(next_).message->by_packets != 0; }

  // Opens the next units, at most `limit`, all of one form; then segment, ready and done serve them
  // by index, or transfer_packets the first one.
  PURLIN_HD void open(u64 limit) {
    u32 m = message_index(unit_number(next_));
    const u32 form = message(m).by_packets;
    while (m + 1 < list_.count && message(m + 1).by_packets == form) ++m;
    const u64 end = m + 1 < list_.count ? message(m + 1).first_unit : list_.units;
    window_ = smaller(limit, own_units_below(end) - next_);
  }
  PURLIN_HD u64 opened() const { return window_; }
  // The first `count` opened units are done with.
  PURLIN_HD void advance(u64 count) {
    next_ += count;
    window_ = 0;
  }

  // Whether unit `ahead` after those done with may be transferred; never waits. A header that
  // contradicts own message stops the rank.
  PURLIN_HD UnitState state(u64 ahead) {
    if (side_ == PairSide::kSelf) return UnitState::kReady;
    const Unit unit = unit_at(next_ + ahead);
    if (side_ == PairSide::kReceive) return arrived(unit);
    return has_room(unit) ? UnitState::kReady : UnitState::kNotYet;
  }
  PURLIN_HD PairSite site(u64 ahead) const { return site_of(unit_at(next_ + ahead)); }

  // ---- Chunks: what an Atom's run asks ----------------------------------------------------------

  PURLIN_HD bool segment(u64 index, purlin_segment* out) const {
    if (index >= window_) return false;
    const Unit unit = unit_at(next_ + index);
    const u64 offset = unit.chunk * p_.slot_bytes;
    u8* const buffer = unit.message->buffer + offset;
    out->bytes = smaller(p_.slot_bytes, unit.message->bytes - offset);
    out->nsrc = 1;
    out->ndst = 1;
    out->consume = PURLIN_CONSUME_COPY;
    out->kind = PURLIN_SEGMENT_UNICAST;
    out->src[0] = side_ == PairSide::kReceive ? pair_slot(p_, p_.rank, peer_, unit.slot) : buffer;
    out->dst[0] = side_ == PairSide::kReceive ? buffer
                  : side_ == PairSide::kSend  ? pair_slot(p_, peer_, p_.rank, unit.slot)
                                              : twin(unit) + offset;
    return true;
  }
  // Bounded wait before the first byte of the segment. False: stop.
  PURLIN_HD bool ready(u64 index) {
    UnitState now = UnitState::kNotYet;
    return env_.wait([&] { return (now = state(index)) != UnitState::kNotYet; }, site(index)) &&
           now == UnitState::kReady;
  }
  // The segment's last byte is visible.
  PURLIN_HD void done(u64 index) {
    const Unit unit = unit_at(next_ + index);
    if (side_ == PairSide::kSend) {
      if (unit.chunk == 0) send_header(unit);
      env_.signal(pair_word(p_, peer_, p_.rank, kFlags, unit.slot), unit.number);
    } else if (side_ == PairSide::kReceive) {
      acknowledge(unit);
    }
    if (side_ != PairSide::kSelf) env_.ring(peer_);
  }

  // ---- Packets: all lanes together --------------------------------------------------------------

  // Transfers the opened unit. False: stop.
  PURLIN_HD bool transfer_packets() {
    const Unit unit = unit_at(next_);
    bool good = true;
    if (side_ == PairSide::kSelf)
      copy_block_by_block(unit);
    else if (side_ == PairSide::kSend)
      good = ready(0) && send_packets(unit);
    else
      good = receive_packets(unit);
    if (!env_.all(good)) return false;
    if (side_ == PairSide::kReceive && env_.lane() == 0) {
      acknowledge(unit);
      env_.ring(peer_);
    }
    return true;
  }

  // The stream's last act: the numbers that the next launch goes on from, in every word that this
  // part stands for, so that a later launch of another number of parts reads them too.
  PURLIN_HD void leave() {
    if (side_ == PairSide::kSelf) return;
    for (u32 w = part_ + env_.lane() * p_.ctas; w < p_.slots; w += env_.lanes() * p_.ctas)
      *counter(w) = base_ + list_.units;
  }

 private:
  static constexpr u32 kFlags = 0, kAcks = 1, kSent = 2, kReceived = 3;
  static constexpr u64 kBlockBytes = Env::kBlockBytes;
  using Block = typename Env::Block;

  struct Unit {
    const PairMessage* message;
    u32 index;   // of the message, in its list
    u64 number;  // of the pair, from 1
    u64 chunk;   // of the message
    u32 slot;
  };

  PURLIN_HD u64* counter(u32 slot) const {
    return pair_word(p_, p_.rank, peer_, side_ == PairSide::kSend ? kSent : kReceived, slot);
  }
  PURLIN_HD const PairMessage& message(u32 index) const { return p_.message(list_.first + index); }

  // This part's units are first_, first_ + ctas, ... of the list's.
  PURLIN_HD u64 unit_number(u64 own) const { return first_ + own * p_.ctas; }
  PURLIN_HD u64 own_units_below(u64 end) const {
    return end > first_ ? (end - first_ - 1) / p_.ctas + 1 : 0;
  }
  PURLIN_HD u32 message_index(u64 unit) const {
    u32 low = 0;
    u32 high = list_.count;
    while (high - low > 1) {
      const u32 middle = low + (high - low) / 2;
      if (message(middle).first_unit <= unit)
        low = middle;
      else
        high = middle;
    }
    return low;
  }
  PURLIN_HD Unit unit_at(u64 own) const {
    const u64 unit = unit_number(own);
    const u32 index = message_index(unit);
    const PairMessage& m = message(index);
    return {&m, index, base_ + unit + 1, unit - m.first_unit, static_cast<u32>((base_ + unit) % p_.slots)};
  }
  // The buffer that a message to the own rank goes to.
  PURLIN_HD u8* twin(const Unit& unit) const {
    return p_.message(p_.receives[p_.rank].first + unit.index).buffer;
  }
  PURLIN_HD PairSite site_of(const Unit& unit) const {
    return {peer_, side_, unit.number, unit.chunk, unit.message->descriptor};
  }
  PURLIN_HD u64 tag_of(const Unit& unit) const {
    return packet_tag(unit.number, unit.message->signature);
  }

  PURLIN_HD bool has_room(const Unit& unit) {
    return unit.number <= p_.slots ||
           env_.observe(pair_word(p_, p_.rank, peer_, kAcks, unit.slot)) >= unit.number - p_.slots;
  }

  // Packets are announced by their header, chunks by a flag; a message's first chunk has both.
  PURLIN_HD UnitState arrived(const Unit& unit) {
    if (unit.chunk == 0) {
      StopRecord record;
      const Arrival header = look_at_header(unit, &record);
      if (header == Arrival::kDiffers) {
        env_.stop(record);
        return UnitState::kStop;
      }
      if (header == Arrival::kNotYet) return UnitState::kNotYet;
      if (unit.message->by_packets != 0) return UnitState::kReady;
    }
    const u64 flag = env_.observe(pair_word(p_, p_.rank, peer_, kFlags, unit.slot));
    return flag >= unit.number ? UnitState::kReady : UnitState::kNotYet;
  }

  PURLIN_HD Arrival look_at_header(const Unit& unit, StopRecord* record) {
    const Header* header = pair_header(p_, p_.rank, peer_, unit.slot);
    u64 call = 0;
    u64 bytes = 0;
    const u64 tag = env_.read_packet(&header->call, &call);
    if (tag_epoch(tag) != unit.number) return Arrival::kNotYet;
    if (env_.read_packet(&header->bytes, &bytes) != tag) return Arrival::kNotYet;
    if (tag_signature(tag) == unit.message->signature) return Arrival::kAgrees;
    record->kind = StopKind::kMismatch;
    record->rank = p_.rank;
    record->peer = peer_;
    record->step = static_cast<u32>(side_);
    record->epoch = unit.number;
    record->expected_call = unit.message->descriptor;
    record->found_call = call;
    record->expected_bytes = unit.message->bytes;
    record->found_bytes = bytes;
    return Arrival::kDiffers;
  }

  PURLIN_HD void send_header(const Unit& unit) {
    Header* header = pair_header(p_, peer_, p_.rank, unit.slot);
    env_.send_word(&header->bytes, unit.message->bytes, tag_of(unit));
    env_.send_word(&header->call, unit.message->descriptor, tag_of(unit));
  }
  PURLIN_HD void acknowledge(const Unit& unit) {
    env_.signal(pair_word(p_, peer_, p_.rank, kAcks, unit.slot), unit.number);
  }

  PURLIN_HD static u32 block_bytes(const Unit& unit, u64 block) {
    return static_cast<u32>(smaller(kBlockBytes, unit.message->bytes - block * kBlockBytes));
  }
  PURLIN_HD void copy_block_by_block(const Unit& unit) {
    for (u64 b = env_.lane(); b * kBlockBytes < unit.message->bytes; b += env_.lanes()) {
      Block block;
      env_.load(block, unit.message->buffer + b * kBlockBytes, block_bytes(unit, b));
      env_.store(twin(unit) + b * kBlockBytes, block, block_bytes(unit, b));
    }
  }
  // The header comes last: on the host it is what says that the packets are there.
  PURLIN_HD bool send_packets(const Unit& unit) {
    purlin_packet* packets = pair_packets(p_, peer_, p_.rank, unit.slot);
    for (u64 b = env_.lane(); b * kBlockBytes < unit.message->bytes; b += env_.lanes()) {
      Block block;
      env_.load(block, unit.message->buffer + b * kBlockBytes, block_bytes(unit, b));
      env_.send_block(packets + b * (kBlockBytes / 8), block, block_bytes(unit, b), tag_of(unit));
    }
    if (env_.lane() != 0) return true;
    send_header(unit);
    env_.ring(peer_);
    return true;
  }
  PURLIN_HD bool receive_packets(const Unit& unit) {
    const purlin_packet* packets = pair_packets(p_, p_.rank, peer_, unit.slot);
    // Without bytes the header is all there is.
    if (unit.message->bytes == 0) return env_.lane() != 0 || ready(0);
    for (u64 b = env_.lane(); b * kBlockBytes < unit.message->bytes; b += env_.lanes()) {
      Block block;
      const Expected expected{packets + b * (kBlockBytes / 8), tag_of(unit), block_bytes(unit, b),
                              Site{}};
      if (!env_.receive_block(
              expected, block, [&] { return arrived(unit) != UnitState::kStop; }, site_of(unit)))
        return false;
      env_.store(unit.message->buffer + b * kBlockBytes, block, expected.bytes);
    }
    return true;
  }

  Env& env_;
  const Params& p_;
  const PairSide side_;
  const u32 peer_;
  const u32 part_;
  const PairList list_;
  const u64 base_;   // units of the pair before this launch
  const u64 first_;  // this part's first unit
  const u64 end_;    // units of this part
  u64 next_ = 0;
  u64 window_ = 0;
};

}  // namespace purlin::snac
