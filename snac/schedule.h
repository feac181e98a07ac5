// The order in which a CTA walks its chunks: rounds outermost, then slots, then streams by distance.
// A pure function of an index, so that fetching and storing threads walk it independently.
#pragma once

#include "snac/platform.h"

namespace purlin::snac {

// Chunks [begin, end) of one stream; chunk c lies in slot c % slots in round c / slots.
struct ChunkRange {
  u32 begin = 0;
  u32 end = 0;
};

struct Item {
  u32 stream = 0;
  u32 slot = 0;
  u32 round = 0;
  u32 chunk = 0;
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
  u32 first_round = 0;
  u32 rounds = 0;

  // `end`: one past the last chunk of the longest stream. Rounds [first, first + count) are walked.
  PURLIN_HD static Walk make(u32 streams, u32 slots, u32 ctas, u32 cta, u32 end, u32 first_round,
                             u32 round_limit) {
    Walk walk;
    walk.streams = streams;
    walk.slots = slots;
    walk.ctas = ctas;
    walk.cta = cta;
    const u32 used = slots < end ? slots : end;
    walk.slots_per_cta = (used + ctas - 1) / ctas;
    const u32 rounds = (end + slots - 1) / slots;
    const u32 left = rounds > first_round ? rounds - first_round : 0;
    walk.first_round = first_round;
    walk.rounds = left < round_limit ? left : round_limit;
    return walk;
  }

  PURLIN_HD u32 size() const { return rounds * slots_per_cta * streams; }

  PURLIN_HD Item at(u32 index) const {
    Item item;
    const u32 per_round = slots_per_cta * streams;
    const u32 round = index / per_round;
    const u32 within = index - round * per_round;
    const u32 pass = within / streams;
    item.stream = within - pass * streams;
    const u32 shifted = cta + ctas - item.stream * ctas / streams;  // below 2 * ctas
    item.slot = pass * ctas + (shifted >= ctas ? shifted - ctas : shifted);
    item.round = first_round + round;
    item.chunk = item.round * slots + item.slot;
    item.valid = item.slot < slots;
    return item;
  }
};

}  // namespace purlin::snac
