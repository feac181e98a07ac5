#include "tools/reference.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "purlin/purlin.h"
#include "tools/small_float.h"

namespace purlin::tools {
namespace {

// Reduces one element a source.
template <class T, class A = T>
T reduced(int dtype, int op, const std::vector<T>& sources, const std::vector<A>& scalars = {}) {
  std::vector<const void*> pointers, scalar_pointers;
  for (const T& source : sources) pointers.push_back(&source);
  for (const A& scalar : scalars) scalar_pointers.push_back(&scalar);
  T out{};
  reference_reduce(dtype, op, pointers.data(), static_cast<int>(sources.size()),
                   scalar_pointers.data(), 1, &out);
  return out;
}

uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }

TEST_CASE("integers wrap, and an average truncates toward zero") {
  CHECK(reduced<int8_t>(PURLIN_I8, PURLIN_SUM, {127, 1}) == -128);
  CHECK(reduced<uint8_t>(PURLIN_U8, PURLIN_PROD, {16, 17}) == 16);
  CHECK(reduced<int32_t>(PURLIN_I32, PURLIN_MIN, {3, -4, 5}) == -4);
  CHECK(reduced<uint32_t>(PURLIN_U32, PURLIN_MAX, {3, 4000000000u, 5}) == 4000000000u);
  CHECK(reduced<int8_t>(PURLIN_I8, PURLIN_AVG, {127, 127, 127}) == 41);  // 381 wraps to 125
  CHECK(reduced<int32_t>(PURLIN_I32, PURLIN_AVG, {-7, 0}) == -3);
  CHECK(reduced<int64_t>(PURLIN_I64, PURLIN_SUM, {INT64_MAX, 1}) == INT64_MIN);
  CHECK(reduced<int64_t>(PURLIN_I64, PURLIN_PROD, {INT64_MIN, -1}) == INT64_MIN);
  CHECK(reduced<uint64_t>(PURLIN_U64, PURLIN_AVG, {UINT64_MAX, 1}) == 0);
  CHECK(reduced<int8_t>(PURLIN_I8, PURLIN_PREMUL_SUM, {100, 1}, std::vector<int8_t>{2, 3}) ==
        static_cast<int8_t>(203));
}

TEST_CASE("sums go in rank order") {
  const float big = 16777216;  // 2^24: adding one is lost
  CHECK(reduced<float>(PURLIN_F32, PURLIN_SUM, {big, 1, -big}) == 0);
  CHECK(reduced<float>(PURLIN_F32, PURLIN_SUM, {big, -big, 1}) == 1);
  CHECK(std::signbit(reduced<float>(PURLIN_F32, PURLIN_SUM, {-0.0f, -0.0f})));
}

TEST_CASE("bf16 accumulates in float and rounds once") {
  // 256 + 1 - 256 is 1; with a rounding after each step it would be 0.
  CHECK(reduced<uint16_t>(PURLIN_BF16, PURLIN_SUM, {0x4380, 0x3F80, 0xC380}) == 0x3F80);
  // 1 + 2^-8 is a tie and goes to even; 1 + 2^-7 + 2^-8 goes up.
  CHECK(reduced<uint16_t>(PURLIN_BF16, PURLIN_SUM, {0x3F80, 0x3B80}) == 0x3F80);
  CHECK(reduced<uint16_t>(PURLIN_BF16, PURLIN_SUM, {0x3F81, 0x3B80}) == 0x3F82);
}

TEST_CASE("minimum and maximum: NaN wins, the negative zero is smaller") {
  CHECK(std::signbit(reduced<double>(PURLIN_F64, PURLIN_MIN, {0.0, -0.0})));
  CHECK(std::signbit(reduced<double>(PURLIN_F64, PURLIN_MIN, {-0.0, 0.0})));
  CHECK_FALSE(std::signbit(reduced<double>(PURLIN_F64, PURLIN_MAX, {-0.0, 0.0})));
  const float nan = std::bit_cast<float>(0xFF812345u);
  for (int op : {PURLIN_MIN, PURLIN_MAX, PURLIN_SUM, PURLIN_AVG}) {
    CHECK(bits(reduced<float>(PURLIN_F32, op, {nan, 1})) == 0x7FFFFFFFu);
    CHECK(bits(reduced<float>(PURLIN_F32, op, {1, nan})) == 0x7FFFFFFFu);
  }
  CHECK(std::bit_cast<uint64_t>(reduced<double>(PURLIN_F64, PURLIN_SUM, {INFINITY, -INFINITY})) ==
        0x7FF8000000000000ull);
  CHECK(reduced<uint16_t>(PURLIN_F16, PURLIN_MAX, {0xFC01, 0x3C00}) == 0x7FFF);
  CHECK(reduced<uint16_t>(PURLIN_BF16, PURLIN_MIN, {0x7F81, 0x3C00}) == 0x7FFF);
  CHECK(reduced<uint8_t>(PURLIN_F8E4M3, PURLIN_SUM, {0xFF, 0x38}) == 0x7F);
  CHECK(reduced<uint8_t>(PURLIN_F8E5M2, PURLIN_SUM, {0xFD, 0x3C}) == 0x7F);
}

TEST_CASE("an average is the sum times the float nearest 1/n") {
  CHECK(reduced<float>(PURLIN_F32, PURLIN_AVG, {1, 1, 1}) == 3.0f * (1.0f / 3.0f));
  CHECK(reduced<float>(PURLIN_F32, PURLIN_AVG, {7, 0, 0}) == 7.0f * (1.0f / 3.0f));
  CHECK(reduced<double>(PURLIN_F64, PURLIN_AVG, {7, 0, 0}) == 7.0 * (1.0 / 3.0));
}

TEST_CASE("a pre-multiplied sum rounds every source") {
  // f16: 2049 needs 12 bits of mantissa: 1.0 * 2049 rounds to 2048 before the sum.
  CHECK(reduced<uint16_t>(PURLIN_F16, PURLIN_PREMUL_SUM, {0x3C00, 0x3C00},
                          std::vector<float>{2049, 1}) == narrow(kF16, 2048 + 1));
  CHECK(reduced<double>(PURLIN_F64, PURLIN_PREMUL_SUM, {2, 3}, std::vector<double>{0.5, 2}) == 7);
}

TEST_CASE("fp8 rounds to nearest even and saturates") {
  CHECK(narrow(kE4m3, 448) == 0x7E);
  CHECK(narrow(kE4m3, 1e9f) == 0x7E);
  CHECK(narrow(kE4m3, -INFINITY) == 0xFE);
  CHECK(narrow(kE5m2, INFINITY) == 0x7B);
  CHECK(narrow(kE5m2, 57344) == 0x7B);
  CHECK(narrow(kE4m3, 1) == 0x38);
  CHECK(narrow(kE4m3, 17) == narrow(kE4m3, 16));     // tie, to even
  CHECK(narrow(kE4m3, 19) == narrow(kE4m3, 20));     // tie, to even
  CHECK(narrow(kE4m3, std::ldexp(1.0f, -9)) == 1);   // smallest subnormal
  CHECK(narrow(kE4m3, std::ldexp(1.0f, -10)) == 0);  // tie with zero
  CHECK(narrow(kE4m3, std::ldexp(1.5f, -10)) == 1);
  CHECK(narrow(kE4m3, -std::ldexp(1.0f, -20)) == 0x80);
}

TEST_CASE("f16 overflows to infinity at half a step above its largest") {
  CHECK(narrow(kF16, 65504) == 0x7BFF);
  CHECK(narrow(kF16, 65519.996f) == 0x7BFF);
  CHECK(narrow(kF16, 65520) == 0x7C00);
  CHECK(narrow(kF16, std::ldexp(1.0f, -24)) == 1);
  CHECK(narrow(kF16, std::ldexp(1.0f, -25)) == 0);
}

TEST_CASE("every code of every small format survives the way to float and back") {
  for (const SmallFormat* format : {&kF16, &kBf16, &kE4m3, &kE5m2}) {
    const uint32_t codes = format->sign_bit() * 2;
    uint32_t wrong = 0, numbers = 0;
    for (uint32_t code = 0; code < codes; ++code) {
      const float value = widen(*format, code);
      if (std::isnan(value)) {
        wrong += narrow(*format, value) != format->canonical_nan;
      } else if (std::isinf(value) && format->exponent == 5 && format->mantissa == 2) {
        wrong += narrow(*format, value) != ((code & format->sign_bit()) | format->largest);
      } else {
        wrong += narrow(*format, value) != code;
        ++numbers;
      }
    }
    CHECK(wrong == 0);
    CHECK(numbers > codes * 3 / 4);
  }
}

TEST_CASE("bf16 keeps subnormals") {
  CHECK(narrow(kBf16, std::bit_cast<float>(0x00010000u)) == 1);
  CHECK(narrow(kBf16, std::bit_cast<float>(0x00018000u)) == 2);  // tie, to even
  CHECK(bits(widen(kBf16, 1)) == 0x00010000u);
}

TEST_CASE("long vectors are reduced element by element") {
  std::vector<int32_t> a(1300), b(1300), out(1300);
  for (int i = 0; i < 1300; ++i) a[static_cast<size_t>(i)] = i, b[static_cast<size_t>(i)] = 2 * i;
  const void* sources[] = {a.data(), b.data()};
  reference_reduce(PURLIN_I32, PURLIN_SUM, sources, 2, nullptr, out.size(), out.data());
  for (int i = 0; i < 1300; ++i) CHECK(out[static_cast<size_t>(i)] == 3 * i);
}

}  // namespace
}  // namespace purlin::tools
