/* purlin/kit/cut.h: how a segment is cut into 16-byte words and pieces. Index arithmetic alone, the
 * same on a host and on a GPU.
 *
 * Positions count bytes from the start of word 0, which begins `lead` bytes before the segment's first
 * byte: with lead = destination % 16 every word of the destination is aligned. Valid are the positions
 * lead .. span - 1; every word but the first and the last is whole. Piece p holds the positions
 * p * step .. (p + 1) * step - 1 that are valid. A segment of no bytes has one empty piece, so that it
 * passes through a pipeline like any other.
 */
#ifndef PURLIN_KIT_CUT_H
#define PURLIN_KIT_CUT_H

#include "purlin/kit/seam.h"

namespace purlin::kit {

inline constexpr uint32_t kWordBytes = 16;

/* Positions begin .. end - 1. */
struct Range {
  uint64_t begin;
  uint64_t end;
};

/* The valid bytes lo .. hi - 1 of one word. */
struct Window {
  uint32_t lo;
  uint32_t hi;
};

PURLIN_KIT uint64_t word_floor(uint64_t address) { return address & ~uint64_t{15}; }
PURLIN_KIT uint64_t word_ceiling(uint64_t address) { return (address + 15) & ~uint64_t{15}; }

/* Pieces of a segment of less than 64 GiB. `step`: a positive multiple of 16. The division is of 32
 * bits: one of 64 is a subroutine on a GPU. */
PURLIN_KIT uint32_t piece_count(uint64_t span, uint32_t step) {
  const uint32_t words = static_cast<uint32_t>(word_ceiling(span) / kWordBytes);
  const uint32_t each = step / kWordBytes;
  return words <= each ? 1 : (words - 1) / each + 1;
}

PURLIN_KIT Range piece_range(uint32_t piece, uint32_t lead, uint64_t span, uint32_t step) {
  Range range = {uint64_t{piece} * step, (uint64_t{piece} + 1) * step};
  if (range.begin < lead) range.begin = lead;
  if (range.end > span) range.end = span;
  return range;
}

/* Valid bytes of word `word` within `range`; lo >= hi: none. */
PURLIN_KIT Window window_of(uint64_t word, const Range& range) {
  const uint64_t begin = word * kWordBytes;
  Window window = {0, kWordBytes};
  if (range.begin > begin) window.lo = static_cast<uint32_t>(range.begin - begin);
  if (range.end < begin + kWordBytes)
    window.hi = range.end > begin ? static_cast<uint32_t>(range.end - begin) : 0;
  return window;
}

/* The 16-byte words of memory that hold a source's bytes of `range`. `source` is the address of
 * position 0. Never touches a word without one of these bytes. */
PURLIN_KIT Range enclosing_words(uint64_t source, const Range& range) {
  return {word_floor(source + range.begin), word_ceiling(source + range.end)};
}

/* Bytes of a stage that one source may use, and the piece that fits there. A source that is not
 * aligned like the destination needs one more word than the piece has; `granule`, a multiple of 16,
 * keeps pieces aligned to more than a word. A granule of 0: sources are not staged, and `stage_bytes`
 * is the piece. */
PURLIN_KIT uint32_t slot_bytes(uint32_t stage_bytes, uint32_t sources, uint32_t granule) {
  return granule == 0 ? stage_bytes : stage_bytes / sources / granule * granule;
}
PURLIN_KIT uint32_t piece_bytes(uint32_t slot, bool congruent, uint32_t granule) {
  return congruent ? slot : slot - granule;
}

/* Where a destination's words begin relative to the segment: its misalignment, unless that would cut
 * elements of `element` bytes, a power of two, in two. */
PURLIN_KIT uint32_t lead_of(uint64_t destination, uint32_t element) {
  const uint32_t lead = static_cast<uint32_t>(destination & 15);
  return (lead & (element - 1)) == 0 ? lead : 0;
}

/* How words are dealt to `lanes` threads: each takes kAdjacent next to each other, then as many of the
 * next round. The u-th word of the thread whose first one is `base`. */
template <uint32_t kAdjacent>
PURLIN_KIT uint64_t dealt_word(uint64_t base, uint32_t u, uint32_t lanes) {
  return base + uint64_t{u / kAdjacent} * (lanes * kAdjacent) + u % kAdjacent;
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_CUT_H
