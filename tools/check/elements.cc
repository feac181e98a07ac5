#include "tools/check/elements.h"

#include <array>
#include <bit>
#include <cstring>

#include "purlin/purlin.h"
#include "tools/names.h"

namespace purlin::tools::check {
namespace {

// Width of the mantissa, and the exponent field of 1; 0 and 0 for integers.
struct Shape {
  unsigned mantissa = 0;
  uint64_t bias = 0;
};
Shape shape_of(int dtype) {
  switch (dtype) {
    case PURLIN_F16:
      return {10, 15};
    case PURLIN_BF16:
      return {7, 127};
    case PURLIN_F32:
      return {23, 127};
    case PURLIN_F64:
      return {52, 1023};
    case PURLIN_F8E4M3:
      return {3, 7};
    case PURLIN_F8E5M2:
      return {2, 15};
    default:
      return {};
  }
}

void put(Bytes& out, uint64_t bytes, uint64_t bits) {
  static_assert(std::endian::native == std::endian::little);
  const size_t at = out.size();
  out.resize(at + bytes);
  std::memcpy(out.data() + at, &bits, bytes);
}

uint64_t special(uint64_t choice, Shape shape, uint64_t sign) {
  const uint64_t unit = uint64_t{1} << shape.mantissa;
  const uint64_t infinity = (sign - 1) / unit * unit;
  const std::array<uint64_t, 12> magnitudes = {0,
                                               1,
                                               unit - 1,
                                               unit,
                                               unit / 2,
                                               infinity - 1,
                                               infinity,
                                               infinity + 1,
                                               sign - 1,
                                               sign - 2,
                                               shape.bias * unit,
                                               shape.bias * unit + 1};
  return magnitudes[choice % magnitudes.size()] | (choice & 16 ? sign : 0);
}

}  // namespace

Bytes tame_elements(int dtype, uint64_t count, std::mt19937_64& random) {
  const uint64_t bytes = dtype_bytes(dtype);
  const Shape shape = shape_of(dtype);
  const uint64_t one = shape.bias << shape.mantissa;
  const uint64_t unit = uint64_t{1} << shape.mantissa;
  Bytes out;
  out.reserve(count * bytes);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t value = 1 + random() % 3;
    // 1, 2 and 3 = 2 * (1 + 1/2).
    const uint64_t bits = value == 1 ? one : value == 2 ? one + unit : one + unit + unit / 2;
    put(out, bytes, shape.bias == 0 ? value : bits);
  }
  return out;
}

Bytes wild_elements(int dtype, uint64_t count, std::mt19937_64& random) {
  const uint64_t bytes = dtype_bytes(dtype);
  const Shape shape = shape_of(dtype);
  const uint64_t sign = uint64_t{1} << (8 * bytes - 1);
  const uint64_t unit = uint64_t{1} << shape.mantissa;
  Bytes out;
  out.reserve(count * bytes);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t kind = random() % 8;
    uint64_t bits = random();
    if (shape.bias != 0 && kind == 0) {
      bits = special(bits, shape, sign);
    } else if (shape.bias != 0 && kind >= 2) {
      const uint64_t exponent = shape.bias - 2 + bits % 5;
      bits = exponent * unit | (random() % unit) | (random() % 2 != 0 ? sign : 0);
    }
    put(out, bytes, bits);
  }
  return out;
}

}  // namespace purlin::tools::check
