/* purlin/kit/bulk_device.cuh: bulk copies and the barriers they complete on, sm_90 and newer. Addresses
 * and sizes are multiples of 16; shared memory is given by shared addresses.
 */
#ifndef PURLIN_KIT_BULK_DEVICE_CUH
#define PURLIN_KIT_BULK_DEVICE_CUH

#include "purlin/kit/seam.h"

namespace purlin::kit {

static __device__ __forceinline__ void init_mbarrier(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
/* After init, by the same thread: the asynchronous proxy sees the barriers. */
static __device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
static __device__ __forceinline__ void arrive_mbarrier(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(count)
               : "memory");
}
/* Arrives once and announces `bytes` that copies will bring. */
static __device__ __forceinline__ void arrive_expecting(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
               "r"(bytes)
               : "memory");
}
/* Whether the phase of this parity is complete; may wait a bounded time for it. */
static __device__ __forceinline__ bool try_mbarrier(uint32_t barrier, uint32_t parity) {
  uint32_t complete;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\n"
      "  selp.u32 %0, 1, 0, p; }"
      : "=r"(complete)
      : "r"(barrier), "r"(parity)
      : "memory");
  return complete != 0;
}
/* The same without waiting. */
static __device__ __forceinline__ bool test_mbarrier(uint32_t barrier, uint32_t parity) {
  uint32_t complete;
  asm volatile(
      "{ .reg .pred p; mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\n"
      "  selp.u32 %0, 1, 0, p; }"
      : "=r"(complete)
      : "r"(barrier), "r"(parity)
      : "memory");
  return complete != 0;
}

/* What this thread has acquired comes before the bulk accesses to global memory that it issues. */
static __device__ __forceinline__ void fence_before_bulk_global() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

static __device__ __forceinline__ void bulk_load(uint32_t shared, uint64_t global, uint32_t bytes,
                                                 uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared),
      "l"(global), "r"(bytes), "r"(barrier)
      : "memory");
}
static __device__ __forceinline__ void bulk_store(uint64_t global, uint32_t shared, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global), "r"(shared),
               "r"(bytes)
               : "memory");
}
static __device__ __forceinline__ void commit_bulk() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/* Until at most kLeft of this thread's groups have not read their shared memory. */
template <int kLeft>
static __device__ __forceinline__ void await_bulk_reads() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kLeft) : "memory");
}
/* Until at most kLeft of this thread's groups are not complete; complete writes are visible to it. */
template <int kLeft>
static __device__ __forceinline__ void await_bulk_writes() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kLeft) : "memory");
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_BULK_DEVICE_CUH
