// The order in which a CTA walks its chunks: rounds outermost, then slots, then streams by distance.
// A pure function of an index, so that fetching and storing threads walk it independently.
#pragma once

#include "snac/platform.h"

namespace purlin::snac {

// Chunks [begin, end) of one stream; chunk c lies in slot c % slots in round c / slots.
struct ChunkRange {
  u64 begin = 0;
  u64 end = 0;
};

struct Item {
  u32 stream = 0;
  u32 slot = 0;
  u64 round = 0;
  u64 chunk = 0;
  bool valid = false;  // false: this index holds no chunk of the stream
};

// Slot k of stream s belongs to CTA (k + s * ctas / streams) mod ctas: one stream alone reaches all
// CTAs, and one chunk of each stream does too.
struct Walk {
  u32 streams = 0;
  u32 slots = 1;
  u32 ctas = 1;
  u32 cta = 0;
  u32 slots_per_cta = 0;
  u64 first_round = 0;
  u64 rounds = 0;

  // `end`: one past the last chunk of the longest stream. Rounds [first, first + count) are walked.
  PURLIN_HD static Walk make(u32 streams, u32 slots, u32 ctas, u32 cta, u64 end, u64 first_round,
                             u64 round_limit) {
    Walk walk;
    walk.streams = streams;
    walk.slots = slots;
    walk.ctas = ctas;
    walk.cta = cta;
    walk.slots_per_cta = static_cast<u32>(divide_up(smaller(slots, end), ctas));
    const u64 rounds = divide_up(end, slots);
    walk.first_round = first_round;
    walk.rounds = rounds > first_round ? smaller(rounds - first_round, round_limit) : 0;
    return walk;
  }

  PURLIN_HD u64 size() const { return rounds * slots_per_cta * streams; }

  PURLIN_HD Item at(u64 index) const {
    Item item;
    const u32 per_round = slots_per_cta * streams;
    const u64 round = index / per_round;
    const u32 within = static_cast<u32>(index - round * per_round);
    const u32 pass = within / streams;
    item.stream = within - pass * streams;
    item.slot = pass * ctas + (cta + ctas - item.stream * ctas / streams) % ctas;
    item.round = first_round + round;
    item.chunk = item.round * slots + item.slot;
    item.valid = item.slot < slots;
    return item;
  }
};

}  // namespace purlin::snac
