/* purlin/kit/convert_device.h: conversions that a GPU has in hardware. Same bits as the bit code.
 *
 * __CUDA_ARCH__ is the base that a fragment is compiled for and stays so when it is linked for a
 * newer device; that is why fragments are built for several bases.
 */
#ifndef PURLIN_KIT_CONVERT_DEVICE_H
#define PURLIN_KIT_CONVERT_DEVICE_H

#include "purlin/kit/dtype.h"
#include "purlin/kit/seam.h"

#if defined(__CUDA_ARCH__)

namespace purlin::kit::device {

/* Whether this base widens, or narrows, elements of D in hardware. */
template <purlin_dtype D>
inline constexpr bool kWidens = D == PURLIN_F16 || D == PURLIN_F8E5M2 ||
                                (D == PURLIN_F8E4M3 && __CUDA_ARCH__ >= 890);
template <purlin_dtype D>
inline constexpr bool kNarrows = D == PURLIN_F16 || (D == PURLIN_BF16 && __CUDA_ARCH__ >= 800) ||
                                 ((D == PURLIN_F8E4M3 || D == PURLIN_F8E5M2) &&
                                  __CUDA_ARCH__ >= 890);

/* Requires kWidens<D>. */
template <purlin_dtype D>
static __device__ __forceinline__ float widen(Storage<D> element) {
  uint16_t half = element;
  if constexpr (D == PURLIN_F8E5M2)
    half = static_cast<uint16_t>(element << 8); /* f16's upper byte */
  if constexpr (D == PURLIN_F8E4M3) {
    uint32_t halves;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(half));
    half = static_cast<uint16_t>(halves);
  }
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
}

/* Requires kNarrows<D>. */
template <purlin_dtype D>
static __device__ __forceinline__ Storage<D> narrow(float value) {
  uint16_t bits;
  if constexpr (D == PURLIN_F16) {
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  } else if constexpr (D == PURLIN_BF16) {
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  } else if constexpr (D == PURLIN_F8E4M3) {
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(0.0f), "f"(value));
  } else {
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(0.0f), "f"(value));
  }
  return static_cast<Storage<D>>(bits);
}

}  // namespace purlin::kit::device

#endif  // __CUDA_ARCH__

#endif  // PURLIN_KIT_CONVERT_DEVICE_H
