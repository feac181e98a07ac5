// Send and receive as SNAC sees them: the messages of one launch, and where a pair's words, packets
// and slots lie. Trivially copyable: it is a kernel's argument.
//
// An ordered pair of ranks has slots of its own at the receiver, filled in turn. A **unit** is one
// use of a slot: a chunk of a message, or a whole message as packets. Units of a pair are numbered
// from 1 for as long as the communicator lives; unit s lies in slot (s - 1) mod slots.
#pragma once

#include "snac/call.h"

namespace purlin::snac {

// One message, at one of its ends. Sends are only read.
struct PairMessage {
  u8* buffer = nullptr;
  u64 bytes = 0;
  u64 first_unit = 0;  // among the units of its list
  u64 descriptor = 0;  // describe_call: both ends' must be equal
  u32 signature = 0;   // pair_signature; 0 when checking is off
  u32 by_packets = 1;  // one unit of packets, or chunks of slot_bytes; follows from `bytes`
};

// The messages of one ordered pair and direction, in call order: messages[first, first + count).
struct PairList {
  u32 first = 0;
  u32 count = 0;
  u64 units = 0;
};

// One launch as a rank sees it. Lists of no messages are pairs that take no part.
template <u32 kPeers>
struct PairParamsOf {
  static constexpr u32 kMostPeers = kPeers;

  u32 nranks = 1;
  u32 rank = 0;
  u32 slots = 2;  // of every ordered pair
  u32 ctas = 1;   // of every stream; divides slots
  u64 slot_bytes = 0;
  u64 packet_bytes = 0;  // memory of a slot's packets
  u64 timeout_ns = 0;
  WireMap map;
  Control* controls = nullptr;     // of every rank, as mapped here
  u8* peers[kPeers] = {};          // base of every rank's memory as mapped here, own included
  PairList sends[kPeers] = {};     // to each rank; the i-th one to the own rank is
  PairList receives[kPeers] = {};  // copied to the i-th one from it
};

// As the host runs it.
struct PairParams : PairParamsOf<kMaxRanks> {
  const PairMessage* messages = nullptr;  // of all lists; not owned
  PURLIN_HD const PairMessage& message(u32 index) const { return messages[index]; }
};

// As a kernel takes it: the messages travel with the parameters, so that a captured launch keeps them.
template <u32 kPeers>
struct InlinePairParamsOf : PairParamsOf<kPeers> {
  static constexpr u32 kMostMessages = 256;
  PairMessage list[kMostMessages];
  PURLIN_HD const PairMessage& message(u32 index) const { return list[index]; }
};

// Words about `peer` in the memory of `owner`. `of`: 0 flags ("unit is here", written by the peer),
// 1 acknowledgments ("unit was taken", written by the peer), 2 units sent and 3 units received by
// the owner before this launch; a word for each slot.
template <class Params>
PURLIN_HD u64* pair_word(const Params& p, u32 owner, u32 peer, u32 of, u32 slot) {
  u8* words = p.peers[owner] + p.map.pair_words + peer * pair_word_bytes(p.slots);
  return reinterpret_cast<u64*>(words + p.slots * sizeof(Header)) + of * p.slots + slot;
}

// Header of the message that begins in `slot`, written by `source` into the memory of `owner`.
template <class Params>
PURLIN_HD Header* pair_header(const Params& p, u32 owner, u32 source, u32 slot) {
  u8* words = p.peers[owner] + p.map.pair_words + source * pair_word_bytes(p.slots);
  return reinterpret_cast<Header*>(words) + slot;
}

template <class Params>
PURLIN_HD purlin_packet* pair_packets(const Params& p, u32 owner, u32 source, u32 slot) {
  return reinterpret_cast<purlin_packet*>(p.peers[owner] + p.map.pair_packets +
                                          (u64{source} * p.slots + slot) * p.packet_bytes);
}

template <class Params>
PURLIN_HD u8* pair_slot(const Params& p, u32 owner, u32 source, u32 slot) {
  return p.peers[owner] + p.map.pair_slots + (u64{source} * p.slots + slot) * p.slot_bytes;
}

}  // namespace purlin::snac
