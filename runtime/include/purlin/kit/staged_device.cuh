/* purlin/kit/staged_device.cuh: sources that lie in one stage of shared memory. */
#ifndef PURLIN_KIT_STAGED_DEVICE_CUH
#define PURLIN_KIT_STAGED_DEVICE_CUH

#include "purlin/kit/sides_device.cuh"
#include "purlin/kit/window_device.cuh"

namespace purlin::kit {

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
