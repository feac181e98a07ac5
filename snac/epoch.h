// Epochs and what is derived from them: flag values, packet tags, the staging half.
//
// The epoch counts the collectives of a communicator, +1 on every rank for every call, from 1.
// Flag words grow for ever: epoch << 20 | round + 1; a waiter accepts any value >= the one it needs,
// since a fast peer may already have overwritten it with a later one. Packet tags are compared for
// equality: epoch << 16 | signature.
#pragma once

#include "snac/platform.h"

namespace purlin::snac {

inline constexpr u32 kRoundBits = 20;
inline constexpr u64 kMaxRounds = (u64{1} << kRoundBits) - 2;
inline constexpr u32 kSignatureBits = 16;

PURLIN_HD constexpr u32 half_of(u64 epoch) { return static_cast<u32>(epoch & 1); }

PURLIN_HD constexpr u64 flag_value(u64 epoch, u64 round) { return (epoch << kRoundBits) + round + 1; }

PURLIN_HD constexpr u64 packet_tag(u64 epoch, u32 signature) {
  return epoch << kSignatureBits | (signature & 0xffffu);
}
PURLIN_HD constexpr u64 tag_epoch(u64 tag) { return tag >> kSignatureBits; }
PURLIN_HD constexpr u32 tag_signature(u64 tag) { return static_cast<u32>(tag & 0xffffu); }

// Mixes `value` into a running 64-bit hash (the finalizer of SplitMix64, a bijection).
PURLIN_HD constexpr u64 mix(u64 hash, u64 value) {
  u64 z = hash ^ (value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2));
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// The signature that a pair's packets carry: what the call is, and the bytes both ends know. 0 when
// checking is off.
PURLIN_HD constexpr u32 pair_signature(u64 call_hash, u64 bytes) {
  if (call_hash == 0) return 0;
  const u64 h = mix(call_hash, bytes);
  return static_cast<u32>((h ^ (h >> 16) ^ (h >> 32) ^ (h >> 48)) & 0xffffu);
}

}  // namespace purlin::snac
