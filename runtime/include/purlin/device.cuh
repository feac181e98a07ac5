/* purlin/device.cuh: an Atom's pipeline inside an application's own kernel.
 *
 * The kernel says what is to move, the Atom that purlin_link_kernel (purlin.h) finds for the device
 * moves it. The file that includes this is compiled to LTO-IR (purlin_device_image of the CMake package
 * does), holds one kernel or several, and names its work once:
 *
 *   struct Work {
 *     // Pure function of the index; false past the end. Any thread, any number of times.
 *     __device__ bool segment(unsigned long long index, purlin_segment* out) const;
 *     // Before the first byte of segment `index` is touched; false stops. One thread, in order.
 *     __device__ bool ready(unsigned long long index);
 *     // The segment's last byte is visible. One thread, in order.
 *     __device__ void done(unsigned long long index);
 *     // Sources of every segment that reduces; 0 if none does. The same whatever the object: the
 *     // linker unrolls over it.
 *     __device__ unsigned sources() const;
 *     // Only where segments scale: the factor's bits, in the accumulation type.
 *     __device__ unsigned long long scalar() const;
 *   };
 *   PURLIN_DEVICE_WORK(Work)
 *
 * and calls purlin::run_work from all threads of the CTA. Segments of kind PURLIN_SEGMENT_UNICAST with
 * PURLIN_CONSUME_COPY or PURLIN_CONSUME_REDUCE, and where the program is linked for PURLIN_PREMUL_SUM
 * PURLIN_CONSUME_SCALE; the limits on sources and destinations are the Atom's.
 */
#ifndef PURLIN_DEVICE_CUH
#define PURLIN_DEVICE_CUH

#include "purlin/device_abi.cuh"

namespace purlin {

/* Moves all segments of `work`. `shared` is the CTA's dynamic shared memory, aligned to 128 bytes, of
 * purlin_kernel.shared_bytes at least; the CTA has purlin_kernel.threads threads. `work` is one object
 * for the CTA or an equal one for each thread. Returns in all threads when the last segment is done. */
template <class Work>
static __device__ __forceinline__ void run_work(Work& work, void* shared) {
  const purlin_group group = {sizeof(purlin_group), threadIdx.x, blockDim.x, 1, shared, 0};
  purlin_atom_run_d2(&group, &work);
}

/* work.scalar(), 0 if it has none. */
template <class Work>
static __device__ __forceinline__ unsigned long long scalar_of_work(const Work& work) {
  if constexpr (requires { work.scalar(); }) return work.scalar();
  else return 0;
}

}  // namespace purlin

#define PURLIN_DEVICE_WORK(Work)                                                                \
  extern "C" __device__ const unsigned purlin_device_abi_snac = PURLIN_ATOM_DEVICE_ABI;         \
  extern "C" __device__ bool purlin_snac_segment_d2(void* work, unsigned long long index,       \
                                                    purlin_segment* out) {                      \
    return static_cast<const Work*>(work)->segment(index, out);                                 \
  }                                                                                             \
  extern "C" __device__ bool purlin_snac_ready_d2(void* work, unsigned long long index) {       \
    bool goes = true; /* the Atom calls with a whole warp, the work wants one thread */         \
    if (threadIdx.x % 32 == 0) goes = static_cast<Work*>(work)->ready(index);                   \
    return __all_sync(0xffffffffu, goes) != 0;                                                  \
  }                                                                                             \
  extern "C" __device__ void purlin_snac_done_d2(void* work, unsigned long long index) {        \
    if (threadIdx.x % 32 == 0) static_cast<Work*>(work)->done(index);                           \
  }                                                                                             \
  extern "C" __device__ unsigned long long purlin_snac_scalar_d2(void* work) {                  \
    return purlin::scalar_of_work(*static_cast<const Work*>(work));                             \
  }                                                                                             \
  extern "C" __device__ unsigned purlin_snac_sources_d2(void* work) {                           \
    return static_cast<const Work*>(work)->sources();                                           \
  }

#endif /* PURLIN_DEVICE_CUH */
