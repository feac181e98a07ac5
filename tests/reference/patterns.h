// Inputs that find faults: the special values of each dtype, and seeded random bits.
#ifndef PURLIN_TESTS_REFERENCE_PATTERNS_H
#define PURLIN_TESTS_REFERENCE_PATTERNS_H

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "purlin/atom_abi.h"
#include "reference/element.h"

namespace purlin::reference {

// Bits of the special values of `dtype`: zeros, subnormals, limits, infinities, NaNs of several
// payloads, and values near which roundings, carries and saturation happen; for integers the
// extremes.
inline std::vector<std::uint64_t> special_values(purlin_dtype dtype) {
  const Shape s = shape_of(dtype);
  const std::uint64_t top = std::uint64_t{1} << (s.width - 1);
  const std::uint64_t all = top | (top - 1);
  std::vector<std::uint64_t> values;
  if (!s.floating) {
    return {0, 1, 2, 3, 5, top - 2, top - 1, top, top + 1, all - 2, all - 1, all, all / 3, all / 5};
  }
  const std::uint64_t one = static_cast<std::uint64_t>(s.bias) << s.mantissa;
  const std::uint64_t unit = std::uint64_t{1} << s.mantissa;  // one step of the exponent
  const std::uint64_t smallest_normal = unit;
  const std::uint64_t infinity = (top - 1) / unit * unit;  // highest exponent, mantissa zero
  for (const std::uint64_t magnitude : {std::uint64_t{0},
                                        std::uint64_t{1},
                                        std::uint64_t{2},
                                        smallest_normal / 2,
                                        smallest_normal - 1,
                                        smallest_normal,
                                        smallest_normal + 1,
                                        one - unit,
                                        one - 1,
                                        one,
                                        one + 1,
                                        one + unit / 2,
                                        one + unit,
                                        one + unit + unit / 2,
                                        infinity - unit,
                                        infinity - 2,
                                        infinity - 1,
                                        infinity,
                                        infinity + 1,
                                        infinity + unit / 2,
                                        top - 2,
                                        top - 1}) {
    values.push_back(magnitude);
    values.push_back(magnitude | top);
  }
  return values;
}

// `count` elements: about a quarter special values, a quarter arbitrary bits, the rest values of
// moderate size whose sums round. The same seed gives the same bytes on every machine.
inline std::vector<unsigned char> mixed_elements(purlin_dtype dtype, std::uint64_t count,
                                                 std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const Shape s = shape_of(dtype);
  const std::vector<std::uint64_t> specials = special_values(dtype);
  const std::uint64_t unit = std::uint64_t{1} << s.mantissa;
  std::vector<unsigned char> bytes(count * element_bytes(dtype));
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t kind = random() % 4;
    std::uint64_t bits = random();
    if (kind == 0) {
      bits = specials[bits % specials.size()];
    } else if (kind >= 2 && s.floating) {
      const std::uint64_t exponent = static_cast<std::uint64_t>(s.bias) - 2 + bits % 5;
      bits = exponent * unit | (random() % unit) | (random() % 2) << (s.width - 1);
    } else if (kind >= 2) {
      bits %= 100;
    }
    store_bits(dtype, bytes.data(), i, bits);
  }
  return bytes;
}

}  // namespace purlin::reference

#endif  // PURLIN_TESTS_REFERENCE_PATTERNS_H
