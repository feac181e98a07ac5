/* purlin/kit/combine.h: one step of a reduction, on values of the accumulation type. */
#ifndef PURLIN_KIT_COMBINE_H
#define PURLIN_KIT_COMBINE_H

#include "purlin/kit/arithmetic.h"
#include "purlin/kit/seam.h"

namespace purlin::kit {

/* The unsigned type in which integers of type T are added and multiplied: it wraps, and it is wide
 * enough not to be promoted to a signed one. */
template <class T>
struct Wrapping {
  using Type = uint32_t;
};
template <>
struct Wrapping<int64_t> {
  using Type = uint64_t;
};
template <>
struct Wrapping<uint64_t> {
  using Type = uint64_t;
};

template <class T>
PURLIN_KIT T add(T a, T b) {
  using U = typename Wrapping<T>::Type;
  return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}
template <class T>
PURLIN_KIT T multiply(T a, T b) {
  using U = typename Wrapping<T>::Type;
  return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
}
template <class T>
PURLIN_KIT T smaller(T a, T b) {
  return a < b ? a : b;
}
template <class T>
PURLIN_KIT T larger(T a, T b) {
  return a > b ? a : b;
}

/* Floating types: a NaN wins over any value, and of two zeros the sign decides. An unordered
 * comparison picks b, so only a NaN in `a` needs a step of its own; equal values differ in bits
 * only if they are zeros, where `or` finds the negative one and `and` the positive one. */
template <class Float, class Bits>
PURLIN_KIT Float smaller_float(Float a, Float b) {
  const Float both = bit_cast<Float>(static_cast<Bits>(bit_cast<Bits>(a) | bit_cast<Bits>(b)));
  const Float less = a < b ? a : b;
  const Float value = a == b ? both : less;
  return a != a ? a : value;
}
template <class Float, class Bits>
PURLIN_KIT Float larger_float(Float a, Float b) {
  const Float both = bit_cast<Float>(static_cast<Bits>(bit_cast<Bits>(a) & bit_cast<Bits>(b)));
  const Float more = a > b ? a : b;
  const Float value = a == b ? both : more;
  return a != a ? a : value;
}
PURLIN_KIT float smaller(float a, float b) { return smaller_float<float, uint32_t>(a, b); }
PURLIN_KIT double smaller(double a, double b) { return smaller_float<double, uint64_t>(a, b); }
PURLIN_KIT float larger(float a, float b) { return larger_float<float, uint32_t>(a, b); }
PURLIN_KIT double larger(double a, double b) { return larger_float<double, uint64_t>(a, b); }

/* The accumulator so far combined with the next source. An average adds, and the parts of a
 * pre-multiplied sum are multiplied before they become sources. */
template <purlin_op O, class T>
PURLIN_KIT T combine(T accumulator, T source) {
  if constexpr (O == PURLIN_PROD) {
    return multiply(accumulator, source);
  } else if constexpr (O == PURLIN_MIN) {
    return smaller(accumulator, source);
  } else if constexpr (O == PURLIN_MAX) {
    return larger(accumulator, source);
  } else {
    static_assert(O == PURLIN_SUM || O == PURLIN_AVG || O == PURLIN_PREMUL_SUM);
    return add(accumulator, source);
  }
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_COMBINE_H
