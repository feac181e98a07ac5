/* purlin/kit/switch_device.cuh: a pipeline for segments whose source or destination is a multicast
 * address: words go from the switch, or from memory, into registers, and on to memory or the switch.
 *
 * Staging is written by one address and read by another: each mover fences between them once the segment
 * is granted, before its first access, and after its last one, before its mark leads to done. Multicast
 * words are whole, also beyond the segment's last byte, which is all that partial words need. Needs no
 * reduction fragment: what the switch does not do, this does not.
 */
#ifndef PURLIN_KIT_SWITCH_DEVICE_CUH
#define PURLIN_KIT_SWITCH_DEVICE_CUH

#include "purlin/kit/direct_device.cuh"
#include "purlin/kit/multimem_device.cuh"
#include "purlin/kit/window_device.cuh"

namespace purlin::kit {

/* One word of the segment's source, of which `window` is wanted. */
template <bool kFamilyOf100>
static __device__ __forceinline__ Words16 take_switched(const GrantedSegment& s, uint64_t word,
                                                        const Window& window) {
  const uint64_t from = s.source[0] + word * kWordBytes;
  if ((s.kind & PURLIN_SEGMENT_SWITCH_LOAD) != 0)
    return reduce_multimem16<kFamilyOf100>(static_cast<uint32_t>(purlin_constant_dtype_d2()),
                                           static_cast<uint32_t>(purlin_constant_op_d2()), from);
  return (from & 15) == 0 ? load_global16(from) : load_global_window(from, window);
}

static __device__ __forceinline__ void put_switched(const GrantedSegment& s, uint64_t word,
                                                    const Words16& v, const Window& window) {
  const uint64_t to = s.destination[0] + word * kWordBytes;
  if ((s.kind & PURLIN_SEGMENT_SWITCH_STORE) != 0) store_multimem16(to, v);
  else store_global_window(to, v, window);
}

/* The words of `range`, dealt to a warp; kAtOnce of each lane's are in flight together. */
template <uint32_t kAtOnce, bool kFamilyOf100>
static __device__ __forceinline__ void move_switched(const GrantedSegment& s, const Range& range,
                                                     uint32_t lane) {
  if (range.begin >= range.end) return;
  const uint64_t end = word_ceiling(range.end) / kWordBytes;
#pragma unroll 1
  for (uint64_t base = range.begin / kWordBytes + lane; base < end; base += kAtOnce * 32) {
    Words16 v[kAtOnce];
    PURLIN_KIT_UNROLL
    for (uint32_t u = 0; u < kAtOnce; ++u) {
      const uint64_t word = dealt_word<1>(base, u, 32);
      if (word < end) v[u] = take_switched<kFamilyOf100>(s, word, window_of(word, range));
    }
    PURLIN_KIT_UNROLL
    for (uint32_t u = 0; u < kAtOnce; ++u) {
      const uint64_t word = dealt_word<1>(base, u, 32);
      if (word < end) put_switched(s, word, v[u], window_of(word, range));
    }
  }
}

/* All threads of the group. */
template <uint32_t kAtOnce, bool kFamilyOf100>
static __device__ __forceinline__ void run_switched(const purlin_group& group, void* snac) {
  run_dealt(
      group, snac, kAtOnce * 32 * kWordBytes,
      [](const GrantedSegment& s, const Range& range, uint32_t lane) {
        move_switched<kAtOnce, kFamilyOf100>(s, range, lane);
      },
      [] { fence_aliases(); });
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_SWITCH_DEVICE_CUH
