/* purlin/kit/small_float.h: f16, e4m3 and e5m2 from and to f32 in portable bit code.
 *
 * Straight-line code (selects, no branches, no variable shifts), so that compilers vectorise it.
 * The few float operations in it are exact or are themselves the rounding to nearest even that is
 * wanted.
 */
#ifndef PURLIN_KIT_SMALL_FLOAT_H
#define PURLIN_KIT_SMALL_FLOAT_H

#include "purlin/kit/arithmetic.h"
#include "purlin/kit/seam.h"

namespace purlin::kit {

/* A floating type of at most 16 bits, narrower than f32 in exponent and mantissa. kInfinity: the
 * highest exponent means infinity and NaN (else only all ones is NaN). kMax: the largest finite
 * value's bits. kSaturate: what lies beyond kMax becomes kMax (else infinity). kNan: the canonical
 * NaN. */
template <int kWidthV, int kMantissaV, int kBiasV, bool kInfinityV, uint32_t kMaxV, bool kSaturateV,
          uint32_t kNanV>
struct SmallFloat {
  static constexpr int kWidth = kWidthV;
  static constexpr int kMantissa = kMantissaV;
  static constexpr int kBias = kBiasV;
  static constexpr bool kInfinity = kInfinityV;
  static constexpr uint32_t kMax = kMaxV;
  static constexpr bool kSaturate = kSaturateV;
  static constexpr uint32_t kNan = kNanV;

  /* Distance of the two mantissas, and of the two biases at f32's place of the exponent. */
  static constexpr int kShift = 23 - kMantissa;
  static constexpr uint32_t kRebias = uint32_t{127 - kBias} << 23;
  static constexpr uint32_t kMagnitude = (1u << (kWidth - 1)) - 1;
};

using F16Format = SmallFloat<16, 10, 15, true, 0x7BFF, false, 0x7FFF>;
using E4M3Format = SmallFloat<8, 3, 7, false, 0x7E, true, 0x7F>;
using E5M2Format = SmallFloat<8, 2, 15, true, 0x7B, true, 0x7F>;

/* The exact value; NaNs become some NaN. */
template <class F>
PURLIN_KIT float widen_small(uint32_t bits) {
  const uint32_t sign = (bits >> (F::kWidth - 1)) << 31;
  const uint32_t magnitude = bits & F::kMagnitude;
  const uint32_t normal = (magnitude << F::kShift) + F::kRebias;
  /* A subnormal is what its mantissa adds to the smallest normal value. */
  constexpr uint32_t kSmallestNormal = F::kRebias + (1u << 23);
  const uint32_t subnormal = bit_cast<uint32_t>(
      subtract(bit_cast<float>(normal + (1u << 23)), bit_cast<float>(kSmallestNormal)));
  uint32_t wide = magnitude < (1u << F::kMantissa) ? subnormal & 0x7FFFFFFFu : normal;
  if constexpr (F::kInfinity) {
    wide = magnitude > F::kMax ? wide | 0x7F800000u : wide;
  } else {
    wide = magnitude > F::kMax ? 0x7FFFFFFFu : wide;
  }
  return bit_cast<float>(wide | sign);
}

/* Rounded to nearest even; see SmallFloat for what lies beyond the range. */
template <class F>
PURLIN_KIT uint32_t narrow_small(float value) {
  const uint32_t bits = bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 31) << (F::kWidth - 1);
  uint32_t magnitude = bits & 0x7FFFFFFFu;
  const bool nan = magnitude > 0x7F800000u;
  if constexpr (F::kSaturate) {
    constexpr uint32_t kLargest = (F::kMax << F::kShift) + F::kRebias;
    magnitude = magnitude > kLargest ? kLargest : magnitude;
  }
  const uint32_t odd = (magnitude >> F::kShift) & 1u;
  const uint32_t half = (1u << (F::kShift - 1)) - 1;
  uint32_t normal = (magnitude - F::kRebias + half + odd) >> F::kShift;
  if constexpr (!F::kSaturate) {
    normal = normal > F::kMax + 1 ? F::kMax + 1 : normal;
  }
  /* Added to a value whose last place is the format's smallest step, the sum's low bits are the
   * rounded subnormal, and a carry makes the smallest normal value. */
  constexpr uint32_t kStep = uint32_t{127 + 24 - F::kBias - F::kMantissa} << 23;
  const uint32_t subnormal =
      bit_cast<uint32_t>(add(bit_cast<float>(magnitude), bit_cast<float>(kStep))) - kStep;
  constexpr uint32_t kSmallestNormal = F::kRebias + (1u << 23);
  const uint32_t rounded = (magnitude < kSmallestNormal ? subnormal : normal) | sign;
  return nan ? F::kNan : rounded;
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_SMALL_FLOAT_H
