#include "tools/reference.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "purlin/purlin.h"
#include "tools/small_float.h"

namespace purlin::tools {
namespace {

// Each element type: what is stored, what is accumulated in, and the way between the two.
template <class T>
struct Integer {
  using Stored = T;
  using Accumulated = T;
  static T load(T value) { return value; }
  static T store(T value) { return value; }
};

template <class T, class Bits, Bits kCanonicalNan>
struct Native {
  using Stored = T;
  using Accumulated = T;
  static T load(T value) { return value; }
  static T store(T value) { return std::isnan(value) ? std::bit_cast<T>(kCanonicalNan) : value; }
};

template <class Code, const SmallFormat& kFormat>
struct Small {
  using Stored = Code;
  using Accumulated = float;
  static float load(Code code) {
    static const auto table = [] {
      std::vector<float> values(size_t{std::numeric_limits<Code>::max()} + 1);
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = widen(kFormat, static_cast<uint32_t>(i));
      return values;
    }();
    return table[code];
  }
  static Code store(float value) { return static_cast<Code>(narrow(kFormat, value)); }
};

// Integer arithmetic wraps: it is done unsigned.
template <class A>
A add(A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    using U = std::make_unsigned_t<A>;
    return static_cast<A>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else {
    return a + b;
  }
}
template <class A>
A multiply(A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    using U = std::make_unsigned_t<A>;
    return static_cast<A>(static_cast<U>(static_cast<U>(a) * static_cast<U>(b)));
  } else {
    return a * b;
  }
}

// A NaN on either side wins; among zeros the negative one is the smaller.
template <class A>
A smaller(A a, A b) {
  if constexpr (!std::is_integral_v<A>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<A>::quiet_NaN();
    if (a == b) return std::signbit(a) ? a : b;
  }
  return b < a ? b : a;
}
template <class A>
A larger(A a, A b) {
  if constexpr (!std::is_integral_v<A>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<A>::quiet_NaN();
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a < b ? b : a;
}

template <class A>
A combine(int op, A a, A b) {
  switch (op) {
    case PURLIN_PROD:
      return multiply(a, b);
    case PURLIN_MIN:
      return smaller(a, b);
    case PURLIN_MAX:
      return larger(a, b);
    default:
      return add(a, b);
  }
}

template <class Type, int kOp>
void reduce(const void* const* sources, int source_count, const void* const* scalars,
            uint64_t count, void* out) {
  using Stored = typename Type::Stored;
  using A = typename Type::Accumulated;
  Stored* result = static_cast<Stored*>(out);
  const auto load = [&](int source, uint64_t i) -> A {
    A value = Type::load(static_cast<const Stored*>(sources[source])[i]);
    if constexpr (kOp == PURLIN_PREMUL_SUM)
      value = Type::load(Type::store(multiply(value, *static_cast<const A*>(scalars[source]))));
    return value;
  };
  constexpr uint64_t kBlock = 512;
  std::array<A, kBlock> sums;
  for (uint64_t start = 0; start < count; start += kBlock) {
    const uint64_t length = count - start < kBlock ? count - start : kBlock;
    for (uint64_t i = 0; i < length; ++i) sums[i] = load(0, start + i);
    for (int source = 1; source < source_count; ++source)
      for (uint64_t i = 0; i < length; ++i)
        sums[i] = combine<A>(kOp, sums[i], load(source, start + i));
    for (uint64_t i = 0; i < length; ++i) {
      A value = sums[i];
      if constexpr (kOp == PURLIN_AVG) {
        if constexpr (std::is_integral_v<A>)
          value = static_cast<A>(value / static_cast<std::common_type_t<A, int>>(source_count));
        else
          value = value * (A{1} / static_cast<A>(source_count));
      }
      result[start + i] = Type::store(value);
    }
  }
}

template <class Type>
void dispatch_op(int op, const void* const* sources, int source_count, const void* const* scalars,
                 uint64_t count, void* out) {
  const auto with = [&](auto constant) {
    reduce<Type, decltype(constant)::value>(sources, source_count, scalars, count, out);
  };
  switch (op) {
    case PURLIN_SUM:
      return with(std::integral_constant<int, PURLIN_SUM>{});
    case PURLIN_PROD:
      return with(std::integral_constant<int, PURLIN_PROD>{});
    case PURLIN_MIN:
      return with(std::integral_constant<int, PURLIN_MIN>{});
    case PURLIN_MAX:
      return with(std::integral_constant<int, PURLIN_MAX>{});
    case PURLIN_AVG:
      return with(std::integral_constant<int, PURLIN_AVG>{});
    case PURLIN_PREMUL_SUM:
      return with(std::integral_constant<int, PURLIN_PREMUL_SUM>{});
  }
}

}  // namespace

void reference_reduce(int dtype, int op, const void* const* sources, int source_count,
                      const void* const* scalars, uint64_t count, void* out) {
  const auto with = [&](auto type) {
    dispatch_op<decltype(type)>(op, sources, source_count, scalars, count, out);
  };
  switch (dtype) {
    case PURLIN_I8:
      return with(Integer<int8_t>{});
    case PURLIN_U8:
      return with(Integer<uint8_t>{});
    case PURLIN_I32:
      return with(Integer<int32_t>{});
    case PURLIN_U32:
      return with(Integer<uint32_t>{});
    case PURLIN_I64:
      return with(Integer<int64_t>{});
    case PURLIN_U64:
      return with(Integer<uint64_t>{});
    case PURLIN_F16:
      return with(Small<uint16_t, kF16>{});
    case PURLIN_F32:
      return with(Native<float, uint32_t, 0x7FFFFFFFu>{});
    case PURLIN_F64:
      return with(Native<double, uint64_t, 0x7FF8000000000000ull>{});
    case PURLIN_BF16:
      return with(Small<uint16_t, kBf16>{});
    case PURLIN_F8E4M3:
      return with(Small<uint8_t, kE4m3>{});
    case PURLIN_F8E5M2:
      return with(Small<uint8_t, kE5m2>{});
  }
}

}  // namespace purlin::tools
