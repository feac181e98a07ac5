// The serial reduction that everything else is compared with: n buffers of any dtype and operation
// to bytes, by docs/numerics.md, one element after the other. Slow (tens of ns an element) and
// obvious; shares no code with the product. To be called in the default floating-point environment.
#ifndef PURLIN_TESTS_REFERENCE_REFERENCE_H
#define PURLIN_TESTS_REFERENCE_REFERENCE_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "purlin/atom_abi.h"
#include "reference/element.h"

namespace purlin::reference {

// Floating types. `value` holds a value of the accumulation type, so that one more rounding, to the
// accumulation type, makes an f32 operation right: double has more than twice the bits of f32.
inline double round_to_accumulator(purlin_dtype dtype, double value) {
  return dtype == PURLIN_F64 ? value : static_cast<double>(static_cast<float>(value));
}

inline bool precedes(double a, double b) {  // in the order in which -0 < +0
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}

inline double combine(purlin_dtype dtype, purlin_op op, double a, double b) {
  switch (op) {
    case PURLIN_PROD:
      return round_to_accumulator(dtype, a * b);
    case PURLIN_MIN:
    case PURLIN_MAX:
      if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
      return precedes(a, b) == (op == PURLIN_MIN) ? a : b;
    default:
      return round_to_accumulator(dtype, a + b);
  }
}

// Integers, as residues modulo 2^width held in 64 bits.
inline std::uint64_t residue(int width, std::uint64_t bits) {
  return width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
}

inline bool negative(const Shape& s, std::uint64_t bits) {
  return s.is_signed && ((bits >> (s.width - 1)) & 1) != 0;
}

inline std::uint64_t sign_extend(const Shape& s, std::uint64_t bits) {
  return negative(s, bits) && s.width < 64 ? bits | ~((std::uint64_t{1} << s.width) - 1) : bits;
}

inline std::uint64_t combine(const Shape& s, purlin_op op, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t flip = s.is_signed ? std::uint64_t{1} << (s.width - 1) : 0;
  switch (op) {
    case PURLIN_PROD:
      return residue(s.width, a * b);
    case PURLIN_MIN:
      return (a ^ flip) <= (b ^ flip) ? a : b;
    case PURLIN_MAX:
      return (a ^ flip) >= (b ^ flip) ? a : b;
    default:
      return residue(s.width, a + b);
  }
}

inline std::uint64_t divide_toward_zero(const Shape& s, std::uint64_t sum, std::uint64_t n) {
  const bool below_zero = s.is_signed && (sum >> 63) != 0;
  const std::uint64_t quotient = (below_zero ? 0 - sum : sum) / n;
  return residue(s.width, below_zero ? 0 - quotient : quotient);
}

// One element from its sources' bits.
inline std::uint64_t reduce_element(purlin_dtype dtype, purlin_op op,
                                    const std::vector<std::uint64_t>& sources,
                                    std::uint32_t nranks) {
  const Shape s = shape_of(dtype);
  if (s.floating) {
    double value = decode(dtype, sources[0]);
    for (std::size_t r = 1; r < sources.size(); ++r) {
      value = combine(dtype, op, value, decode(dtype, sources[r]));
    }
    if (op == PURLIN_AVG) {
      const double part = round_to_accumulator(dtype, 1.0 / nranks);
      value = round_to_accumulator(dtype, value * part);
    }
    return encode(dtype, value);
  }
  if (op == PURLIN_AVG) {
    std::uint64_t sum = 0;
    for (const std::uint64_t bits : sources) sum += bits;
    return divide_toward_zero(s, sign_extend(s, residue(s.width, sum)), nranks);
  }
  std::uint64_t value = sources[0];
  for (std::size_t r = 1; r < sources.size(); ++r) value = combine(s, op, value, sources[r]);
  return value;
}

// Reduces element by element: `nsrc` buffers of `count` elements, in order, into `out` (which may
// be one of them). `nranks` is what an average divides by. PURLIN_PREMUL_SUM expects scaled
// sources.
inline void reduce(purlin_dtype dtype, purlin_op op, const void* const* sources, std::uint32_t nsrc,
                   std::uint32_t nranks, std::uint64_t count, void* out) {
  std::vector<std::uint64_t> bits(nsrc);
  for (std::uint64_t i = 0; i < count; ++i) {
    for (std::uint32_t r = 0; r < nsrc; ++r) bits[r] = load_bits(dtype, sources[r], i);
    store_bits(dtype, out, i, reduce_element(dtype, op, bits, nranks));
  }
}

// One element of a rank's own part of a pre-multiplied sum. `scalar` holds the bits of one value of
// the accumulation type: f32 for f16, bf16 and fp8, otherwise dtype.
inline std::uint64_t scale_element(purlin_dtype dtype, std::uint64_t bits, std::uint64_t scalar) {
  const Shape s = shape_of(dtype);
  if (!s.floating) return residue(s.width, bits * scalar);
  const double factor = decode(dtype == PURLIN_F64 ? PURLIN_F64 : PURLIN_F32, scalar);
  return encode(dtype, round_to_accumulator(dtype, decode(dtype, bits) * factor));
}

inline void scale(purlin_dtype dtype, const void* source, const void* scalar, std::uint64_t count,
                  void* out) {
  const Shape s = shape_of(dtype);
  const purlin_dtype scalar_type = s.floating && s.width < 32 ? PURLIN_F32 : dtype;
  const std::uint64_t factor = load_bits(scalar_type, scalar, 0);
  for (std::uint64_t i = 0; i < count; ++i) {
    store_bits(dtype, out, i, scale_element(dtype, load_bits(dtype, source, i), factor));
  }
}

}  // namespace purlin::reference

#endif  // PURLIN_TESTS_REFERENCE_REFERENCE_H
