// From a call's arguments to its parameters: shapes, geometry, capacity. Host only.
#pragma once

#include <string>

#include "snac/flow.h"

namespace purlin::snac {

// Sizes of a call in elements, as the public API states them.
struct CallSizes {
  u64 element_bytes = 1;
  u64 count = 0;  // meaning by collective, see purlin_call
  const u64* send_counts = nullptr;
  const u64* send_displs = nullptr;
  const u64* recv_counts = nullptr;
  const u64* recv_displs = nullptr;
};

// Why `t` cannot run at n ranks; empty if it can.
std::string refuse_transformation(const Transformation& t, u32 n);

// How the buffers of `rank` are divided. Packed parts of V forms read counts[rank], so the arrays may
// lie in device memory.
Shapes shapes_of(Collective collective, const Transformation& t, const CallSizes& sizes, bool one_shot,
                 u32 n, u32 rank);

// Slots and offsets for chunks of at most `chunk_bytes`, rounded down to a power of two: smaller ones
// when the half is too small to hold a slot of each stream.
Geometry set_geometry(const Transformation& t, u32 n, u64 half_bytes, u64 chunk_bytes,
                      Direction first, Direction second);

// The same for the switch staging, which has a region for each rank.
Geometry set_switch_geometry(u32 n, u64 half_bytes, u64 chunk_bytes);

// Most bytes of one pair that packets of one step can carry.
constexpr u64 packet_capacity(const WireMap& map, const Transformation& t) {
  return smaller(map.packets_per_source / t.step_count * 8, kMostByPackets);
}

// Longest pair of either step on this rank, in bytes.
u64 longest_pair(const Transformation& t, const CallParams& p);

}  // namespace purlin::snac
