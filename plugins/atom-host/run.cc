#include "run.h"

#include <algorithm>
#include <cstring>

#include "purlin/kit/dtype.h"
#include "reduction.h"

namespace purlin::atom_host {
namespace {

const unsigned char* at(const void* data, uint64_t offset) {
  return static_cast<const unsigned char*>(data) + offset;
}
unsigned char* at(void* data, uint64_t offset) {
  return static_cast<unsigned char*>(data) + offset;
}

// In place there is nothing to move, and memcpy does not allow it.
void copy(void* destination, const void* source, uint64_t bytes) {
  if (destination != source) std::memcpy(destination, source, bytes);
}

// Bytes `offset` … `offset + bytes` of a segment, to its first destination from its sources, then
// to the others from the first. A source that equals one of the others has been read by then.
void move_piece(const purlin_constants* constants, const purlin_segment& segment, uint64_t offset,
                uint64_t bytes) {
  unsigned char* const first = at(segment.dst[0], offset);
  if (segment.reduce == PURLIN_CONSUME_SCALE) {
    scale(constants->dtype, at(segment.src[0], offset), &constants->scalar, first, bytes);
  } else if (segment.reduce == PURLIN_CONSUME_REDUCE) {
    const void* sources[PURLIN_MAX_RANKS];
    for (uint32_t r = 0; r < segment.nsrc; ++r) sources[r] = at(segment.src[r], offset);
    reduce(constants, sources, segment.nsrc, first, bytes);
  } else {
    copy(first, at(segment.src[0], offset), bytes);
  }
  for (uint32_t k = 1; k < segment.ndst; ++k) copy(at(segment.dst[k], offset), first, bytes);
}

// Whole elements, at least one.
uint64_t piece_bytes(const purlin_constants* constants, const purlin_segment& segment) {
  if (segment.ndst == 1) return segment.bytes;
  const uint64_t element = kit::element_bytes(constants->dtype);
  const uint64_t share = constants->stage_bytes / segment.nsrc;
  return std::max(share / element, uint64_t{1}) * element;
}

void move_segment(const purlin_constants* constants, const purlin_segment& segment) {
  if (segment.bytes == 0 || segment.ndst == 0) return;
  const uint64_t piece = piece_bytes(constants, segment);
  for (uint64_t offset = 0; offset < segment.bytes; offset += piece) {
    move_piece(constants, segment, offset, std::min(piece, segment.bytes - offset));
  }
}

}  // namespace

int run(const purlin_constants* constants, const purlin_group*, const purlin_snac_calls* calls,
        void* snac) {
  purlin_segment segment;
  for (uint64_t index = 0; calls->segment(snac, index, &segment) != 0; ++index) {
    if (calls->ready(snac, index) != 0) return 1;
    move_segment(constants, segment);
    calls->done(snac, index);
  }
  return 0;
}

}  // namespace purlin::atom_host
