/* purlin/kit/shared_device.cuh: words of shared memory through which the warps of a group talk, and
 * the group's named barriers.
 */
#ifndef PURLIN_KIT_SHARED_DEVICE_CUH
#define PURLIN_KIT_SHARED_DEVICE_CUH

#include "purlin/kit/seam.h"

namespace purlin::kit {

static __device__ __forceinline__ uint32_t shared_address(const void* at) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(at));
}

/* Acquire and release among the threads of one CTA. They are cumulative: what the writer had acquired
 * at system scope, the reader sees too. */
static __device__ __forceinline__ uint64_t acquire_shared(const uint64_t* word) {
  uint64_t value;
  asm volatile("ld.acquire.cta.shared.u64 %0, [%1];"
               : "=l"(value)
               : "r"(shared_address(word))
               : "memory");
  return value;
}
static __device__ __forceinline__ void release_shared(uint64_t* word, uint64_t value) {
  asm volatile("st.release.cta.shared.u64 [%0], %1;" ::"r"(shared_address(word)), "l"(value)
               : "memory");
}

/* All threads of the group, which hold whole warps. `index`: of the group's barriers, from 0. */
static __device__ __forceinline__ void group_barrier(const purlin_group& group, uint32_t index) {
  asm volatile("bar.sync %0, %1;" ::"r"(group.barrier_base + index), "r"(group.threads) : "memory");
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_SHARED_DEVICE_CUH
