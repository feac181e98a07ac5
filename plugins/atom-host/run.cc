#include "run.h"

#include <algorithm>

#include "kernels.h"
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

// Outputs of at least so many bytes do not stay in the caches until somebody reads them.
constexpr uint64_t kStreamedOutput = 8u << 20;
// A store into a line that a peer's cache holds, as it holds what it read last time, waits for that
// cache; one that bypasses the caches does not (measured: 37 ns a line against 2.5). From so many
// bytes on that outweighs the way through memory.
constexpr uint64_t kStreamedShared = 1u << 10;
// What has several destinations, or is computed and then goes past the caches, passes through the
// nearest cache in pieces of this size.
constexpr uint64_t kBufferBytes = 16u << 10;

bool lies_in(const void* address, const void* begin, uint64_t bytes) {
  return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(begin) < bytes;
}

bool streamed(const purlin_constants* constants, const void* destination, uint64_t segment_bytes) {
  if (constants->struct_size < sizeof(purlin_constants)) return false;
  if (lies_in(destination, constants->shared, constants->shared_bytes))
    return segment_bytes >= kStreamedShared;
  return constants->output_bytes >= kStreamedOutput &&
         lies_in(destination, constants->output, constants->output_bytes);
}

// The destinations of one segment, and how each is written.
struct Move {
  const purlin_constants* constants;
  const purlin_segment& segment;
  const Kernels& kernels = best_kernels();

  bool streams(uint32_t k) const { return streamed(constants, segment.dst[k], segment.bytes); }
  // In place there is nothing to move.
  void copy(uint32_t k, uint64_t offset, const void* source, uint64_t bytes) const {
    unsigned char* const to = at(segment.dst[k], offset);
    if (to != source) (streams(k) ? kernels.stream : kernels.copy)(to, source, bytes);
  }
  void compute(void* destination, uint64_t offset, uint64_t bytes) const {
    if (segment.consume == PURLIN_CONSUME_SCALE) {
      scale(constants->dtype, at(segment.src[0], offset), &constants->scalar, destination, bytes);
      return;
    }
    const void* sources[PURLIN_MAX_RANKS];
    for (uint32_t r = 0; r < segment.nsrc; ++r) sources[r] = at(segment.src[r], offset);
    reduce(constants, sources, segment.nsrc, destination, bytes);
  }
  // Bytes `offset` … `offset + bytes`: to one destination, then to the others from there. A source
  // that equals a destination has been read by then.
  void piece(uint64_t offset, uint64_t bytes) const {
    alignas(64) unsigned char buffer[kBufferBytes];
    const void* result = at(segment.dst[0], offset);
    uint32_t k = 1;
    if (segment.consume == PURLIN_CONSUME_COPY) {
      if (streams(0)) result = at(segment.src[0], offset);
      copy(0, offset, at(segment.src[0], offset), bytes);
    } else if (streams(0) && bytes <= kBufferBytes) {
      compute(buffer, offset, bytes);
      result = buffer;
      k = 0;
    } else {
      compute(at(segment.dst[0], offset), offset, bytes);
    }
    for (; k < segment.ndst; ++k) copy(k, offset, result, bytes);
  }
  // Whole elements, at least one.
  uint64_t piece_bytes() const {
    const bool direct = segment.consume == PURLIN_CONSUME_COPY || !streams(0);
    if (segment.ndst == 1 && direct) return segment.bytes;
    const uint64_t element = kit::element_bytes(constants->dtype);
    const uint64_t share = std::min<uint64_t>(constants->stage_bytes / segment.nsrc, kBufferBytes);
    return std::max(share / element, uint64_t{1}) * element;
  }
};

void move_segment(const purlin_constants* constants, const purlin_segment& segment) {
  if (segment.bytes == 0 || segment.ndst == 0) return;
  const Move move{constants, segment};
  const uint64_t piece = move.piece_bytes();
  for (uint64_t offset = 0; offset < segment.bytes; offset += piece)
    move.piece(offset, std::min(piece, segment.bytes - offset));
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
