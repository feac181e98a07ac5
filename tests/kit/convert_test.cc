#include "purlin/kit/convert.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "level.h"
#include "reference/element.h"

namespace {

namespace kit = purlin::kit;
namespace reference = purlin::reference;

// Widens every pattern of D and compares it with the decoded value; then narrows it back.
template <purlin_dtype D>
void check_every_pattern() {
  const std::uint64_t patterns = std::uint64_t{1} << reference::shape_of(D).width;
  int wrong = 0;
  for (std::uint64_t bits = 0; bits < patterns; ++bits) {
    const double expected = reference::decode(D, bits);
    const double found = kit::widen<D>(static_cast<kit::Storage<D>>(bits));
    const bool same = std::isnan(expected)
                          ? std::isnan(found)
                          : expected == found && std::signbit(expected) == std::signbit(found);
    const std::uint64_t back = kit::narrow<D>(static_cast<float>(expected));
    if (!same || back != reference::encode(D, expected)) {
      if (++wrong <= 5) MESSAGE("pattern ", bits, " widens to ", found, ", returns as ", back);
    }
  }
  purlin::test::count_cases(patterns);
  CHECK(wrong == 0);
}

// Narrows `value` and its neighbours, in both signs; returns how many go wrong.
template <purlin_dtype D>
int count_wrong_near(float value) {
  int wrong = 0;
  for (const float near :
       {std::nextafterf(value, -1.0f), value, std::nextafterf(value, INFINITY)}) {
    for (const float signed_value : {near, -near}) {
      const std::uint64_t found = kit::narrow<D>(signed_value);
      const std::uint64_t expected = reference::encode(D, signed_value);
      if (found != expected) {
        if (++wrong <= 5) MESSAGE(signed_value, " narrows to ", found, ", expected ", expected);
      }
    }
  }
  return wrong;
}

// Every representable value, every midpoint of two of them, and the f32 values just beside both.
template <purlin_dtype D>
void check_every_boundary() {
  const std::vector<double>& values = reference::finite_values(D);
  int wrong = 0;
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    wrong += count_wrong_near<D>(static_cast<float>(values[i]));
    wrong += count_wrong_near<D>(static_cast<float>((values[i] + values[i + 1]) / 2));
  }
  const double last = values.back();
  const double step = last - values[values.size() - 2];
  for (const double beyond :
       {last, last + step / 2, last + step, last * 2, 1e300, INFINITY + 0.0}) {
    wrong += count_wrong_near<D>(static_cast<float>(beyond));
  }
  CHECK(wrong == 0);
}

// Arbitrary f32 bits, NaNs of all kinds among them.
template <purlin_dtype D>
void check_arbitrary_bits(std::uint64_t seed) {
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  int wrong = 0;
  constexpr int kCases = 200000;
  for (int i = 0; i < kCases; ++i) {
    const float value = kit::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (kit::narrow<D>(value) != reference::encode(D, value)) ++wrong;
  }
  for (const std::uint32_t nan :
       {0x7F800001u, 0xFF800001u, 0x7FC00000u, 0xFFC00000u, 0xFFFFFFFFu}) {
    if (kit::narrow<D>(kit::bit_cast<float>(nan)) != reference::shape_of(D).nan) ++wrong;
  }
  purlin::test::count_cases(kCases);
  CHECK(wrong == 0);
}

template <purlin_dtype D>
void check_conversions() {
  check_every_pattern<D>();
  check_every_boundary<D>();
  check_arbitrary_bits<D>(purlin::test::seed() + D);
}

TEST_CASE("f16 converts exactly and rounds to nearest even") { check_conversions<PURLIN_F16>(); }
TEST_CASE("bf16 converts exactly and rounds to nearest even") { check_conversions<PURLIN_BF16>(); }
TEST_CASE("f8e4m3 rounds to nearest even and saturates") { check_conversions<PURLIN_F8E4M3>(); }
TEST_CASE("f8e5m2 rounds to nearest even and saturates") { check_conversions<PURLIN_F8E5M2>(); }

TEST_CASE("f32 and f64 keep their bits, but for NaNs, which become one") {
  CHECK(kit::narrow<PURLIN_F32>(kit::widen<PURLIN_F32>(0x80000001u)) == 0x80000001u);
  CHECK(kit::narrow<PURLIN_F32>(kit::widen<PURLIN_F32>(0xFF800000u)) == 0xFF800000u);
  for (const std::uint32_t nan : {0x7F800001u, 0xFFC00000u, 0x7FFFFFFFu, 0xFFFFFFFFu}) {
    CHECK(kit::narrow<PURLIN_F32>(kit::widen<PURLIN_F32>(nan)) == 0x7FFFFFFFu);
  }
  CHECK(kit::narrow<PURLIN_F64>(kit::widen<PURLIN_F64>(0x8000000000000001u)) ==
        0x8000000000000001u);
  for (const std::uint64_t nan : {0x7FF0000000000001u, 0xFFF8000000000000u, 0xFFFFFFFFFFFFFFFFu}) {
    CHECK(kit::narrow<PURLIN_F64>(kit::widen<PURLIN_F64>(nan)) == 0x7FF8000000000000u);
  }
}

}  // namespace
