/* purlin/kit/convert.h: an element to its accumulation type and back.
 *
 * On the host both need rounding to nearest even and no flush to zero.
 */
#ifndef PURLIN_KIT_CONVERT_H
#define PURLIN_KIT_CONVERT_H

#include "purlin/kit/convert_device.h"
#include "purlin/kit/dtype.h"
#include "purlin/kit/small_float.h"

namespace purlin::kit {

template <purlin_dtype D>
struct SmallFormat;
template <>
struct SmallFormat<PURLIN_F16> : F16Format {};
template <>
struct SmallFormat<PURLIN_F8E4M3> : E4M3Format {};
template <>
struct SmallFormat<PURLIN_F8E5M2> : E5M2Format {};

/* The element's exact value in the accumulation type. A NaN becomes a NaN, its payload is lost or
 * not. */
template <purlin_dtype D>
PURLIN_KIT typename Dtype<D>::Accumulator widen(Storage<D> element) {
  if constexpr (!Dtype<D>::kFloating) {
    return element;
  } else if constexpr (D == PURLIN_F32 || D == PURLIN_F64) {
    return bit_cast<typename Dtype<D>::Accumulator>(element);
  } else if constexpr (D == PURLIN_BF16) {
    return bit_cast<float>(static_cast<uint32_t>(element) << 16);
  } else {
#if defined(__CUDA_ARCH__)
    if constexpr (device::kWidens<D>) {
      return device::widen<D>(element);
    } else
#endif
      return widen_small<SmallFormat<D>>(element);
  }
}

/* Rounds to nearest even. Beyond the largest finite value: infinity for f16 and bf16, that value
 * for fp8. Every NaN becomes the type's canonical NaN. Integers pass through. */
template <purlin_dtype D>
PURLIN_KIT Storage<D> narrow(typename Dtype<D>::Accumulator value) {
  if constexpr (!Dtype<D>::kFloating) {
    return value;
  } else if constexpr (D == PURLIN_F32) {
    return value != value ? 0x7FFFFFFFu : bit_cast<uint32_t>(value);
  } else if constexpr (D == PURLIN_F64) {
    return value != value ? uint64_t{0x7FF8000000000000u} : bit_cast<uint64_t>(value);
  } else {
#if defined(__CUDA_ARCH__)
    if constexpr (device::kNarrows<D>) {
      return device::narrow<D>(value);
    } else
#endif
        if constexpr (D == PURLIN_BF16) {
      const uint32_t bits = bit_cast<uint32_t>(value);
      const uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
      return static_cast<uint16_t>(value != value ? 0x7FFFu : rounded);
    } else {
      return static_cast<Storage<D>>(narrow_small<SmallFormat<D>>(value));
    }
  }
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_CONVERT_H
