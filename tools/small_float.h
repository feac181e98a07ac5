// The 8- and 16-bit floating-point formats as bit patterns, and their way to float and back.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace purlin::tools {

// A format of 1 sign bit, `exponent` and `mantissa` bits. Codes above `largest` (without sign)
// become `overflow` when a number is rounded; NaN is not a number.
struct SmallFormat {
  int exponent, mantissa;
  uint32_t largest, overflow, canonical_nan;
  bool has_infinity;

  constexpr int bias() const { return (1 << (exponent - 1)) - 1; }
  constexpr uint32_t sign_bit() const { return 1u << (exponent + mantissa); }
};
inline constexpr SmallFormat kF16{5, 10, 0x7BFF, 0x7C00, 0x7FFF, true};
inline constexpr SmallFormat kBf16{8, 7, 0x7F7F, 0x7F80, 0x7FFF, true};
inline constexpr SmallFormat kE4m3{4, 3, 0x7E, 0x7E, 0x7F, false};
inline constexpr SmallFormat kE5m2{5, 2, 0x7B, 0x7B, 0x7F, true};

// Exact. Every NaN code gives some NaN.
constexpr float widen(const SmallFormat& format, uint32_t code) {
  const uint32_t sign = (code & format.sign_bit()) ? 0x80000000u : 0u;
  const uint32_t magnitude = code & (format.sign_bit() - 1);
  const int field = static_cast<int>(magnitude >> format.mantissa);
  const uint32_t fraction = magnitude & ((1u << format.mantissa) - 1);
  const uint32_t wide = fraction << (23 - format.mantissa);
  const int top = (1 << format.exponent) - 1;
  const bool nan =
      format.has_infinity ? field == top && fraction != 0 : magnitude == format.canonical_nan;
  if (nan) return std::bit_cast<float>(0x7FC00000u | sign);
  if (format.has_infinity && field == top) return std::bit_cast<float>(0x7F800000u | sign);
  if (field != 0 || format.exponent == 8)
    return std::bit_cast<float>(sign | (static_cast<uint32_t>(field - format.bias() + 127) << 23) |
                                wide);
  // Subnormal: fraction * 2^(1 - bias - mantissa), a normal float for every format but bf16.
  const float unit =
      std::bit_cast<float>(static_cast<uint32_t>(1 - format.bias() - format.mantissa + 127) << 23);
  const float value = static_cast<float>(fraction) * unit;
  return sign ? -value : value;
}

// To nearest, ties to even; a NaN becomes the format's canonical one.
constexpr uint32_t narrow(const SmallFormat& format, float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return format.canonical_nan;
  const uint32_t sign = (bits >> 31) ? format.sign_bit() : 0u;
  const int field = static_cast<int>(magnitude >> 23);
  const int exponent = (field == 0 ? 1 : field) - 127;
  const uint32_t full = (magnitude & 0x7FFFFFu) | (field == 0 ? 0u : 0x800000u);
  const int least = 1 - format.bias();
  const int shift = 23 - format.mantissa + (exponent < least ? least - exponent : 0);
  if (shift > 25) return sign;
  uint32_t code = full >> shift;
  const uint32_t rest = full & ((1u << shift) - 1);
  const uint32_t half = 1u << (shift - 1);
  if (rest > half || (rest == half && (code & 1u))) ++code;
  // The implicit bit in `code` carries into the exponent field by itself.
  if (exponent > least) code += static_cast<uint32_t>(exponent - least) << format.mantissa;
  return sign | (code > format.largest ? format.overflow : code);
}

}  // namespace purlin::tools
