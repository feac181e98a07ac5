// One element of any dtype, decoded and encoded the slow and obvious way. Independent of the
// product's arithmetic: values are found in enumerated tables and compared in double precision,
// where all of them and all their midpoints are exact.
#ifndef PURLIN_TESTS_REFERENCE_ELEMENT_H
#define PURLIN_TESTS_REFERENCE_ELEMENT_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "purlin/atom_abi.h"

namespace purlin::reference {

// Width in bits, and for integers the signedness; for floating types the split of the bits.
struct Shape {
  int width;
  bool floating;
  bool is_signed;
  int mantissa;       // explicit mantissa bits
  int bias;           // exponent bias
  bool infinity;      // the highest exponent holds infinity and NaN; else only all ones is NaN
  bool saturates;     // beyond the largest finite value comes that value, not infinity
  std::uint64_t nan;  // canonical NaN
};

inline Shape shape_of(purlin_dtype dtype) {
  switch (dtype) {
    case PURLIN_I8:
      return {8, false, true, 0, 0, false, false, 0};
    case PURLIN_U8:
      return {8, false, false, 0, 0, false, false, 0};
    case PURLIN_I32:
      return {32, false, true, 0, 0, false, false, 0};
    case PURLIN_U32:
      return {32, false, false, 0, 0, false, false, 0};
    case PURLIN_I64:
      return {64, false, true, 0, 0, false, false, 0};
    case PURLIN_U64:
      return {64, false, false, 0, 0, false, false, 0};
    case PURLIN_F16:
      return {16, true, true, 10, 15, true, false, 0x7FFF};
    case PURLIN_F32:
      return {32, true, true, 23, 127, true, false, 0x7FFFFFFF};
    case PURLIN_F64:
      return {64, true, true, 52, 1023, true, false, 0x7FF8000000000000};
    case PURLIN_BF16:
      return {16, true, true, 7, 127, true, false, 0x7FFF};
    case PURLIN_F8E4M3:
      return {8, true, true, 3, 7, false, true, 0x7F};
    case PURLIN_F8E5M2:
      return {8, true, true, 2, 15, true, true, 0x7F};
    default:
      throw std::invalid_argument("no such dtype");
  }
}

inline std::uint64_t element_bytes(purlin_dtype dtype) {
  return static_cast<std::uint64_t>(shape_of(dtype).width) / 8;
}

inline const char* name_of(purlin_dtype dtype) {
  static const char* const kNames[] = {"i8",  "u8",  "i32", "u32",  "i64",    "u64",
                                       "f16", "f32", "f64", "bf16", "f8e4m3", "f8e5m2"};
  return kNames[dtype];
}

inline const char* name_of(purlin_op op) {
  static const char* const kNames[] = {"sum", "prod", "min", "max", "avg", "premul_sum"};
  return kNames[op];
}

// The bits of element `index`, in the low end.
inline std::uint64_t load_bits(purlin_dtype dtype, const void* data, std::uint64_t index) {
  const std::uint64_t size = element_bytes(dtype);
  std::uint64_t bits = 0;
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::uint64_t byte = static_cast<const unsigned char*>(data)[index * size + i];
    bits |= byte << (8 * i);
  }
  return bits;
}

inline void store_bits(purlin_dtype dtype, void* data, std::uint64_t index, std::uint64_t bits) {
  const std::uint64_t size = element_bytes(dtype);
  for (std::uint64_t i = 0; i < size; ++i) {
    static_cast<unsigned char*>(data)[index * size + i] =
        static_cast<unsigned char>(bits >> (8 * i));
  }
}

// The value of a floating element; exact for every type.
inline double decode(purlin_dtype dtype, std::uint64_t bits) {
  const Shape s = shape_of(dtype);
  const int exponent_bits = s.width - 1 - s.mantissa;
  const std::uint64_t mantissa_mask = (std::uint64_t{1} << s.mantissa) - 1;
  const std::uint64_t exponent_mask = (std::uint64_t{1} << exponent_bits) - 1;
  const std::uint64_t fraction = bits & mantissa_mask;
  const std::uint64_t exponent = (bits >> s.mantissa) & exponent_mask;
  const double sign = (bits >> (s.width - 1)) & 1 ? -1.0 : 1.0;
  if (exponent == exponent_mask) {
    if (s.infinity && fraction == 0) return sign * std::numeric_limits<double>::infinity();
    if (s.infinity || fraction == mantissa_mask) return std::numeric_limits<double>::quiet_NaN();
  }
  const std::uint64_t hidden = exponent == 0 ? 0 : mantissa_mask + 1;
  const int power = static_cast<int>(exponent == 0 ? 1 : exponent) - s.bias - s.mantissa;
  return sign * std::ldexp(static_cast<double>(fraction + hidden), power);
}

// All finite values of a type of at most 16 bits that are not negative; the index is the bits.
inline const std::vector<double>& finite_values(purlin_dtype dtype) {
  static std::vector<double> tables[PURLIN_DTYPE_COUNT];
  static const bool built = [] {
    for (const purlin_dtype d : {PURLIN_F16, PURLIN_BF16, PURLIN_F8E4M3, PURLIN_F8E5M2}) {
      for (std::uint64_t bits = 0; std::isfinite(decode(d, bits)); ++bits) {
        tables[d].push_back(decode(d, bits));
      }
    }
    return true;
  }();
  static_cast<void>(built);
  return tables[dtype];
}

// The nearest element to a value of the accumulation type; of two equally near ones the even one.
inline std::uint64_t encode(purlin_dtype dtype, double value) {
  const Shape s = shape_of(dtype);
  if (std::isnan(value)) return s.nan;
  if (dtype == PURLIN_F64) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  if (dtype == PURLIN_F32) {
    const float single = static_cast<float>(value);
    std::uint32_t bits;
    std::memcpy(&bits, &single, sizeof bits);
    return bits;
  }
  const std::uint64_t sign = std::signbit(value) ? std::uint64_t{1} << (s.width - 1) : 0;
  const double magnitude = std::fabs(value);
  const std::vector<double>& values = finite_values(dtype);
  const std::uint64_t last = values.size() - 1;
  if (magnitude >= values[last]) {
    const double step = values[last] - values[last - 1];
    const bool beyond =
        magnitude >= values[last] + step / 2;  // on the tie the next is the even one
    return sign | (beyond && !s.saturates ? last + 1 : last);
  }
  const auto above = std::upper_bound(values.begin(), values.end(), magnitude);
  const std::uint64_t high = static_cast<std::uint64_t>(above - values.begin());
  const std::uint64_t low = high - 1;
  const double to_low = magnitude - values[low];
  const double to_high = values[high] - magnitude;
  const bool up = to_high < to_low || (to_high == to_low && low % 2 == 1);
  return sign | (up ? high : low);
}

}  // namespace purlin::reference

#endif  // PURLIN_TESTS_REFERENCE_ELEMENT_H
