/* purlin/kit/seam.h: what differs between the host compiler and nvcc, and nothing else.
 *
 * Every function of the kit is `static`: two device fragments built for different architectures can
 * be linked into one program without sharing (or clashing over) a helper.
 */
#ifndef PURLIN_KIT_SEAM_H
#define PURLIN_KIT_SEAM_H

#include <stdint.h>

#include "purlin/atom_abi.h"

#if defined(__CUDACC__)
#define PURLIN_KIT static __host__ __device__ __forceinline__
#define PURLIN_KIT_MEMBER __host__ __device__ __forceinline__
#else
#define PURLIN_KIT static inline __attribute__((always_inline))
#define PURLIN_KIT_MEMBER inline __attribute__((always_inline))
#endif

/* Before a loop whose trip count is a constant: its arrays must end up in registers on a GPU. */
#if defined(__CUDA_ARCH__)
#define PURLIN_KIT_UNROLL _Pragma("unroll")
#else
#define PURLIN_KIT_UNROLL
#endif

namespace purlin::kit {

/* The value of type To that has the bits of `from`. */
template <class To, class From>
PURLIN_KIT constexpr To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_SEAM_H
