/* purlin/kit/async_device.cuh: asynchronous copies of 16 bytes from global to shared memory, sm_80 and
 * newer. A thread waits for its own copies; other threads see them after a barrier. */
#ifndef PURLIN_KIT_ASYNC_DEVICE_CUH
#define PURLIN_KIT_ASYNC_DEVICE_CUH

#include "purlin/kit/seam.h"

namespace purlin::kit {

static __device__ __forceinline__ void copy_async16(uint32_t shared, uint64_t global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
}
static __device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/* Until at most kLeft of the committed groups are under way. */
template <int kLeft>
static __device__ __forceinline__ void await_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}
/* Until the oldest of `groups` groups has arrived. `groups` is a link-time constant, 1 .. 16. */
static __device__ __forceinline__ void await_oldest_copy(uint32_t groups) {
  switch (groups) {
    case 1: return await_copies<0>();
    case 2: return await_copies<1>();
    case 3: return await_copies<2>();
    case 4: return await_copies<3>();
    case 5: return await_copies<4>();
    case 6: return await_copies<5>();
    case 7: return await_copies<6>();
    case 8: return await_copies<7>();
    case 9: return await_copies<8>();
    case 10: return await_copies<9>();
    case 11: return await_copies<10>();
    case 12: return await_copies<11>();
    case 13: return await_copies<12>();
    case 14: return await_copies<13>();
    case 15: return await_copies<14>();
    default: return await_copies<15>();
  }
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_ASYNC_DEVICE_CUH
