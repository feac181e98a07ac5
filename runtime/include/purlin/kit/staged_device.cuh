/* purlin/kit/staged_device.cuh: sources that lie in one stage of shared memory. */
#ifndef PURLIN_KIT_STAGED_DEVICE_CUH
#define PURLIN_KIT_STAGED_DEVICE_CUH

#include "purlin/kit/sides_device.cuh"
#include "purlin/kit/window_device.cuh"

namespace purlin::kit {

/* Shared memory in front of a ring of stages, which is aligned to 128 bytes, and behind it, since a
 * window may reach one word beyond the last piece. An Atom's shared_bytes_fixed is their sum. */
inline constexpr uint32_t kSharedBeforeRing = (sizeof(Sides) + 512 + 127) / 128 * 128;
inline constexpr uint32_t kSharedBehindRing = 128;

/* A stage holds, one slot a source, the words that enclose a piece beginning at `begin`. */
struct FromStage {
  const GrantedSegment& s;
  uint32_t stage;  // shared address
  uint64_t begin;

  __device__ __forceinline__ Words16 whole(uint32_t r, uint64_t word) const {
    const uint32_t at = static_cast<uint32_t>(word * kWordBytes - word_floor(begin));
    return load_shared16(stage + r * s.slot + at);
  }
  __device__ __forceinline__ Words16 window(uint32_t r, uint64_t word, const Window&) const {
    const uint64_t at = s.source[r] + word * kWordBytes - word_floor(s.source[r] + begin);
    return load_shared_window(stage + r * s.slot + static_cast<uint32_t>(at));
  }
};

}  // namespace purlin::kit

#endif  // PURLIN_KIT_STAGED_DEVICE_CUH
