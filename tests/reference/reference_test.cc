// The reference itself, against values worked out by hand.
#include "reference/reference.h"

#include <doctest/doctest.h>

#include <cstring>

#include "reference/patterns.h"

namespace {

namespace reference = purlin::reference;
using Bits = std::vector<std::uint64_t>;

std::uint64_t f32(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

TEST_CASE("known values decode and encode") {
  struct Row {
    purlin_dtype dtype;
    std::uint64_t bits;
    double value;
  };
  const Row rows[] = {
      {PURLIN_F16, 0x3C00, 1.0},
      {PURLIN_F16, 0xC000, -2.0},
      {PURLIN_F16, 0x7BFF, 65504.0},
      {PURLIN_F16, 0x0001, std::ldexp(1.0, -24)},
      {PURLIN_BF16, 0x3F80, 1.0},
      {PURLIN_BF16, 0x4049, 3.140625},
      {PURLIN_BF16, 0x0001, std::ldexp(1.0, -133)},
      {PURLIN_F8E4M3, 0x38, 1.0},
      {PURLIN_F8E4M3, 0x7E, 448.0},
      {PURLIN_F8E4M3, 0x01, 0.001953125},
      {PURLIN_F8E4M3, 0xFE, -448.0},
      {PURLIN_F8E5M2, 0x3C, 1.0},
      {PURLIN_F8E5M2, 0x7B, 57344.0},
      {PURLIN_F8E5M2, 0x01, std::ldexp(1.0, -16)},
      {PURLIN_F32, 0x40490FDB, 3.14159274101257324},
      {PURLIN_F64, 0x3FF8000000000000, 1.5},
  };
  for (const Row& row : rows) {
    CAPTURE(reference::name_of(row.dtype));
    CAPTURE(row.bits);
    CHECK(reference::decode(row.dtype, row.bits) == row.value);
    CHECK(reference::encode(row.dtype, row.value) == row.bits);
  }
}

TEST_CASE("rounding is to nearest even, with the range's end as documented") {
  CHECK(reference::encode(PURLIN_F16, 1.0 + std::ldexp(1.0, -11)) == 0x3C00);
  CHECK(reference::encode(PURLIN_F16, 1.0 + 3 * std::ldexp(1.0, -11)) == 0x3C02);
  CHECK(reference::encode(PURLIN_F16, 65519.99) == 0x7BFF);
  CHECK(reference::encode(PURLIN_F16, -65520.0) == 0xFC00);
  CHECK(reference::encode(PURLIN_F16, std::ldexp(1.0, -25)) == 0);
  CHECK(reference::encode(PURLIN_F16, std::ldexp(1.5, -25)) == 1);
  CHECK(reference::encode(PURLIN_BF16, std::ldexp(2.0 - std::ldexp(1.0, -8), 127)) == 0x7F80);
  CHECK(reference::encode(PURLIN_F8E4M3, 1e30) == 0x7E);
  CHECK(reference::encode(PURLIN_F8E4M3, -INFINITY) == 0xFE);
  CHECK(reference::encode(PURLIN_F8E5M2, INFINITY) == 0x7B);
  CHECK(reference::encode(PURLIN_F8E5M2, NAN) == 0x7F);
  CHECK(reference::encode(PURLIN_F32, -NAN) == 0x7FFFFFFF);
  CHECK(reference::encode(PURLIN_F64, -NAN) == 0x7FF8000000000000);
}

TEST_CASE("reductions of one element") {
  using reference::reduce_element;
  CHECK(reduce_element(PURLIN_F32, PURLIN_SUM, Bits{f32(-0.0f), f32(-0.0f)}, 2) == f32(-0.0f));
  CHECK(reduce_element(PURLIN_F32, PURLIN_SUM, Bits{f32(0.0f), f32(-0.0f)}, 2) == f32(0.0f));
  CHECK(reduce_element(PURLIN_F32, PURLIN_SUM, Bits{f32(1e8f), f32(1), f32(-1e8f)}, 3) == f32(0));
  CHECK(reduce_element(PURLIN_F32, PURLIN_MIN, Bits{f32(0.0f), f32(-0.0f)}, 2) == f32(-0.0f));
  CHECK(reduce_element(PURLIN_F32, PURLIN_MAX, Bits{f32(-0.0f), f32(0.0f)}, 2) == f32(0.0f));
  CHECK(reduce_element(PURLIN_F32, PURLIN_MAX, Bits{0xFF800001, f32(1)}, 2) == 0x7FFFFFFF);
  CHECK(reduce_element(PURLIN_F32, PURLIN_AVG, Bits{f32(1), f32(0), f32(0)}, 3) ==
        f32(1.0f / 3.0f));
  // 256 + 1 - 256 in bf16: 1 with an f32 accumulator, 0 if each step were rounded to bf16.
  CHECK(reduce_element(PURLIN_BF16, PURLIN_SUM, Bits{0x4380, 0x3F80, 0xC380}, 3) == 0x3F80);
  CHECK(reduce_element(PURLIN_F8E5M2, PURLIN_MAX, Bits{0x7C, 0x3C}, 2) == 0x7B);
  CHECK(reduce_element(PURLIN_I8, PURLIN_SUM, Bits{0x7F, 0x01}, 2) == 0x80);
  CHECK(reduce_element(PURLIN_I8, PURLIN_MIN, Bits{0x7F, 0x80}, 2) == 0x80);
  CHECK(reduce_element(PURLIN_U8, PURLIN_MIN, Bits{0x7F, 0x80}, 2) == 0x7F);
  CHECK(reduce_element(PURLIN_I8, PURLIN_AVG, Bits{0x7F, 0x7F, 0x7F}, 3) == 0x29);  // 381 wraps to 125
  CHECK(reduce_element(PURLIN_I8, PURLIN_AVG, Bits{0xFF, 0xFE}, 2) == 0xFF);  // -3 / 2 is -1
  CHECK(reduce_element(PURLIN_U64, PURLIN_AVG, Bits{~std::uint64_t{0}, 3}, 2) == 1);
  CHECK(reduce_element(PURLIN_I32, PURLIN_PROD, Bits{0x80000000, 0xFFFFFFFF}, 2) == 0x80000000);
}

TEST_CASE("a rank's own part of a pre-multiplied sum") {
  CHECK(reference::scale_element(PURLIN_BF16, 0x3F80, f32(1.00390625f)) == 0x3F80);  // tie to even
  CHECK(reference::scale_element(PURLIN_F8E4M3, 0x7E, f32(2)) == 0x7E);
  CHECK(reference::scale_element(PURLIN_F16, 0x7C00, f32(0)) == 0x7FFF);
  CHECK(reference::scale_element(PURLIN_U8, 200, 3) == 88);
}

TEST_CASE("buffers are reduced element by element, also in place") {
  std::vector<unsigned char> a = reference::mixed_elements(PURLIN_F16, 33, 1);
  const std::vector<unsigned char> b = reference::mixed_elements(PURLIN_F16, 33, 2);
  std::vector<unsigned char> out(a.size());
  const void* sources[] = {a.data(), b.data()};
  reference::reduce(PURLIN_F16, PURLIN_SUM, sources, 2, 2, 33, out.data());
  reference::reduce(PURLIN_F16, PURLIN_SUM, sources, 2, 2, 33, a.data());
  CHECK(a == out);
}

}  // namespace
