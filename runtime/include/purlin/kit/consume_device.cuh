/* purlin/kit/consume_device.cuh: what becomes of the words of a segment once they can be read: copied,
 * combined or scaled, and stored to every destination.
 *
 * `From` is where the sources are read:
 *     Words16 whole(r, word)            word `word` of source r; the segment is congruent
 *     Words16 window(r, word, window)   any segment; bytes outside the window may be anything
 * Work is dealt to `lanes` threads in whole warps, of which this is number `lane`.
 */
#ifndef PURLIN_KIT_CONSUME_DEVICE_CUH
#define PURLIN_KIT_CONSUME_DEVICE_CUH

#include "purlin/kit/sides_device.cuh"
#include "purlin/kit/window_device.cuh"

namespace purlin::kit {

/* Words that a thread combines at once: with n sources, about 8 loads in flight. */
template <uint32_t kAdjacent>
static __device__ __forceinline__ uint32_t reduced_at_once(uint32_t sources) {
  const uint32_t words = sources <= 2 ? 4 : sources <= 4 ? 2 : 1;
  return words < kAdjacent ? kAdjacent : words;
}

/* Stores the words of dealt_word that lie below `end`, to every destination. */
template <uint32_t kAdjacent, uint32_t kMost>
static __device__ __forceinline__ void store_whole(const GrantedSegment& s, const Words16 (&v)[kMost],
                                                   uint32_t count, uint64_t base, uint64_t end,
                                                   uint32_t lanes) {
#pragma unroll 1
  for (uint32_t d = 0; d < s.destinations; ++d) {
    const uint64_t to = s.destination[d];
    const bool pairs = kAdjacent == 2 && ((to + base * kWordBytes) & 31) == 0;
    PURLIN_KIT_UNROLL
    for (uint32_t u = 0; u < count; ++u) {
      const uint64_t word = dealt_word<kAdjacent>(base, u, lanes);
      if constexpr (kAdjacent == 2) {
        if (pairs && u % 2 == 0 && word + 1 < end) {
          store_global32(to + word * kWordBytes, v[u], v[u + 1]);
          continue;
        }
        if (pairs && u % 2 == 1) continue;  // stored with the one before
      }
      if (word < end) store_global16(to + word * kWordBytes, v[u]);
    }
  }
}

/* Sources of a reducing segment; 0 in a program that does not reduce. Constants both, once linked. */
static __device__ __forceinline__ uint32_t constant_sources(void* snac) {
  const uint32_t sources = purlin_snac_sources_d2(snac);
  return sources < PURLIN_DEVICE_MAX_RANKS ? sources : PURLIN_DEVICE_MAX_RANKS;
}
static __device__ __forceinline__ bool reduces(const GrantedSegment& s, void* snac) {
  return constant_sources(snac) != 0 && s.consume == PURLIN_CONSUME_REDUCE;
}
static __device__ __forceinline__ bool scales(const GrantedSegment& s) {
  return purlin_constant_op_d2() == PURLIN_PREMUL_SUM && s.consume == PURLIN_CONSUME_SCALE;
}

/* Whole words first .. end - 1, copied; kAtOnce of each thread's in flight together. */
template <uint32_t kAtOnce, class From>
static __device__ __forceinline__ void copy_whole(const GrantedSegment& s, const From& from,
                                                  uint64_t first, uint64_t end, uint32_t lane,
                                                  uint32_t lanes) {
#pragma unroll 1
  for (uint64_t base = first + lane; base < end; base += kAtOnce * lanes) {
    Words16 v[kAtOnce];
    PURLIN_KIT_UNROLL
    for (uint32_t u = 0; u < kAtOnce; ++u) {
      const uint64_t word = dealt_word<1>(base, u, lanes);
      if (word < end) v[u] = from.whole(0, word);
    }
    store_whole<1>(s, v, kAtOnce, base, end, lanes);
  }
}

/* The same, combined. */
template <uint32_t kAdjacent, class From>
static __device__ __forceinline__ void reduce_whole(const GrantedSegment& s, const From& from,
                                                    uint64_t first, uint64_t end, uint32_t lane,
                                                    uint32_t lanes, void* snac) {
  const uint32_t n = constant_sources(snac);
  const uint32_t at_once = reduced_at_once<kAdjacent>(n);
#pragma unroll 1
  for (uint64_t base = first + lane * kAdjacent; base < end; base += at_once * lanes) {
    Words16 in[4][PURLIN_DEVICE_MAX_RANKS];
    PURLIN_KIT_UNROLL
    for (uint32_t u = 0; u < at_once; ++u) {
      // Beyond the end the last word is read again: no branch between loads.
      const uint64_t dealt = dealt_word<kAdjacent>(base, u, lanes);
      const uint64_t word = dealt < end ? dealt : end - 1;
      PURLIN_KIT_UNROLL
      for (uint32_t r = 0; r < n; ++r) in[u][r] = from.whole(r, word);
    }
    Words16 out[4];
    PURLIN_KIT_UNROLL
    for (uint32_t u = 0; u < at_once; ++u) purlin_reduce16_d2(in[u], n, &out[u]);
    store_whole<kAdjacent>(s, out, at_once, base, end, lanes);
  }
}

/* One word of any segment, of which `window` is valid. */
template <class From>
static __device__ __forceinline__ void consume_window(const GrantedSegment& s, const From& from,
                                                      uint64_t word, const Window& window, void* snac) {
  Words16 out;
  if (reduces(s, snac)) {
    const uint32_t n = constant_sources(snac);
    Words16 in[PURLIN_DEVICE_MAX_RANKS];
    PURLIN_KIT_UNROLL
    for (uint32_t r = 0; r < n; ++r) in[r] = from.window(r, word, window);
    purlin_reduce16_d2(in, n, &out);
  } else {
    out = from.window(0, word, window);
    if (scales(s)) purlin_scale16_d2(purlin_snac_scalar_d2(snac), &out);
  }
#pragma unroll 1
  for (uint32_t d = 0; d < s.destinations; ++d)
    store_global_window(s.destination[d] + word * kWordBytes, out, window);
}

/* All words of `range`. kAtOnce 0: whole words are copied elsewhere or never, so no code is made for
 * it. kAdjacent 2: results are stored 32 bytes at a time where aligned. */
template <uint32_t kAtOnce, uint32_t kAdjacent, class From>
static __device__ __forceinline__ void consume_range(const GrantedSegment& s, const From& from,
                                                     const Range& range, uint32_t lane, uint32_t lanes,
                                                     void* snac) {
  if (range.begin >= range.end) return;
  const uint64_t head = range.begin / kWordBytes;
  const uint64_t first = word_ceiling(range.begin) / kWordBytes;
  const uint64_t last = range.end / kWordBytes;
  const bool fast = s.congruent != 0 && !scales(s) && (kAtOnce != 0 || reduces(s, snac));
  if (fast) {
    if (reduces(s, snac)) reduce_whole<kAdjacent>(s, from, first, last, lane, lanes, snac);
    else if (kAtOnce != 0) copy_whole<kAtOnce == 0 ? 1 : kAtOnce>(s, from, first, last, lane, lanes);
  }
  // What is left: the words at both ends, or everything.
  const uint64_t count = fast ? 2 : word_ceiling(range.end) / kWordBytes - head;
#pragma unroll 1
  for (uint64_t x = lane; x < count; x += lanes) {
    const uint64_t word = !fast ? head + x : x == 0 ? head : last;
    if (fast && word >= first && word < last) continue;
    if (fast && x == 1 && last == head) continue;
    const Window window = window_of(word, range);
    if (window.lo < window.hi) consume_window(s, from, word, window, snac);
  }
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_CONSUME_DEVICE_CUH
