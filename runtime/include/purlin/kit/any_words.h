/* purlin/kit/any_words.h: a reduction whose dtype and operation are known at run time alone, on 8
 * bytes held in registers.
 *
 * words.h with a switch over every type and operation would be sixty reductions wherever it is
 * inlined. This is one: elements become values of one of three types (float, double, 64-bit
 * integer), so that conversions and operations add up instead of multiplying. Bits are those of
 * words.h: widening is exact, each operation is the accumulation type's own, and integers modulo
 * 2^64 are right modulo 2^width.
 */
#ifndef PURLIN_KIT_ANY_WORDS_H
#define PURLIN_KIT_ANY_WORDS_H

#include "purlin/kit/words.h"

#if defined(__CUDA_ARCH__)
#define PURLIN_KIT_NO_UNROLL _Pragma("unroll 1")
#else
#define PURLIN_KIT_NO_UNROLL
#endif

namespace purlin::kit {

/* Elements of 8 bytes at most. */
template <class Value>
inline constexpr int kMostValues = 8;
template <>
inline constexpr int kMostValues<double> = 1;

/* The elements of 8 bytes as values of one type; those beyond the dtype's number are zero. */
template <class Value>
struct Values {
  Value value[kMostValues<Value>];
};

template <purlin_dtype D, class Value>
PURLIN_KIT void widen_words(const Words8& words, Values<Value>& out) {
  constexpr int kElements = 8 / static_cast<int>(sizeof(Storage<D>));
  PURLIN_KIT_UNROLL
  for (int i = 0; i < kMostValues<Value>; ++i)
    out.value[i] =
        i < kElements ? static_cast<Value>(widen<D>(element_of<D>(words, i % kElements))) : Value{};
}

template <purlin_dtype D, class Value>
PURLIN_KIT Words8 narrow_words(const Values<Value>& in) {
  constexpr int kElements = 8 / static_cast<int>(sizeof(Storage<D>));
  Words8 out{};
  PURLIN_KIT_UNROLL
  for (int i = 0; i < kElements; ++i)
    put_element<D>(out, i, narrow<D>(static_cast<typename Dtype<D>::Accumulator>(in.value[i])));
  return out;
}

/* Which type's values a dtype becomes, and the dtypes of each. */
struct AnyFloat {
  using Value = float;
  PURLIN_KIT_MEMBER static Values<float> widen(uint32_t dtype, const Words8& words) {
    Values<float> out;
    switch (dtype) {
      case PURLIN_F16:
        widen_words<PURLIN_F16>(words, out);
        break;
      case PURLIN_BF16:
        widen_words<PURLIN_BF16>(words, out);
        break;
      case PURLIN_F8E4M3:
        widen_words<PURLIN_F8E4M3>(words, out);
        break;
      case PURLIN_F8E5M2:
        widen_words<PURLIN_F8E5M2>(words, out);
        break;
      default:
        widen_words<PURLIN_F32>(words, out);
    }
    return out;
  }
  PURLIN_KIT_MEMBER static Words8 narrow(uint32_t dtype, const Values<float>& values) {
    switch (dtype) {
      case PURLIN_F16:
        return narrow_words<PURLIN_F16>(values);
      case PURLIN_BF16:
        return narrow_words<PURLIN_BF16>(values);
      case PURLIN_F8E4M3:
        return narrow_words<PURLIN_F8E4M3>(values);
      case PURLIN_F8E5M2:
        return narrow_words<PURLIN_F8E5M2>(values);
      default:
        return narrow_words<PURLIN_F32>(values);
    }
  }
  PURLIN_KIT_MEMBER static float average(uint32_t, float sum, uint32_t nranks) {
    return multiply(sum, average_factor<PURLIN_F32>(nranks));
  }
};

struct AnyDouble {
  using Value = double;
  PURLIN_KIT_MEMBER static Values<double> widen(uint32_t, const Words8& words) {
    Values<double> out;
    widen_words<PURLIN_F64>(words, out);
    return out;
  }
  PURLIN_KIT_MEMBER static Words8 narrow(uint32_t, const Values<double>& values) {
    return narrow_words<PURLIN_F64>(values);
  }
  PURLIN_KIT_MEMBER static double average(uint32_t, double sum, uint32_t nranks) {
    return multiply(sum, average_factor<PURLIN_F64>(nranks));
  }
};

/* All integers but u64 are what they are in signed 64 bits; see ordered() for that one. */
struct AnyInteger {
  using Value = int64_t;
  PURLIN_KIT_MEMBER static Values<int64_t> widen(uint32_t dtype, const Words8& words) {
    Values<int64_t> out;
    switch (dtype) {
      case PURLIN_I8:
        widen_words<PURLIN_I8>(words, out);
        break;
      case PURLIN_U8:
        widen_words<PURLIN_U8>(words, out);
        break;
      case PURLIN_I32:
        widen_words<PURLIN_I32>(words, out);
        break;
      case PURLIN_U32:
        widen_words<PURLIN_U32>(words, out);
        break;
      default:
        widen_words<PURLIN_I64>(words, out);
    }
    return out;
  }
  PURLIN_KIT_MEMBER static Words8 narrow(uint32_t dtype, const Values<int64_t>& values) {
    switch (dtype) {
      case PURLIN_I8:
      case PURLIN_U8:
        return narrow_words<PURLIN_U8>(values);
      case PURLIN_I32:
      case PURLIN_U32:
        return narrow_words<PURLIN_U32>(values);
      default:
        return narrow_words<PURLIN_I64>(values);
    }
  }
  /* Of the sum as the type holds it: what lies beyond its width is gone. */
  PURLIN_KIT_MEMBER static int64_t average(uint32_t dtype, int64_t sum, uint32_t nranks) {
    if (dtype == PURLIN_U64) return static_cast<int64_t>(static_cast<uint64_t>(sum) / nranks);
    return wrapped(dtype, sum) / static_cast<int64_t>(nranks);
  }
  PURLIN_KIT_MEMBER static int64_t wrapped(uint32_t dtype, int64_t sum) {
    switch (dtype) {
      case PURLIN_I8:
        return static_cast<int8_t>(sum);
      case PURLIN_U8:
        return static_cast<uint8_t>(sum);
      case PURLIN_I32:
        return static_cast<int32_t>(sum);
      case PURLIN_U32:
        return static_cast<uint32_t>(sum);
      default:
        return sum;
    }
  }
};

template <purlin_op O, class Value>
PURLIN_KIT void combine_values(Values<Value>& into, const Values<Value>& next) {
  PURLIN_KIT_UNROLL
  for (int i = 0; i < kMostValues<Value>; ++i)
    into.value[i] = combine<O>(into.value[i], next.value[i]);
}

/* Unsigned 64-bit values in an order that a signed comparison keeps. Its own inverse. */
PURLIN_KIT Words8 ordered(uint32_t dtype, uint32_t op, Words8 words) {
  if (dtype == PURLIN_U64 && (op == PURLIN_MIN || op == PURLIN_MAX)) words.word[1] ^= 0x80000000u;
  return words;
}

/* The next source always stands in the same place, so the loop stays a loop and nothing is indexed
 * at run time. The average's divisions are such a loop too. */
template <class Any, int kMaxSources>
PURLIN_KIT Words8 reduce_any(uint32_t dtype, uint32_t op, Words8 (&sources)[kMaxSources],
                             uint32_t n, uint32_t nranks) {
  using Value = typename Any::Value;
  constexpr int kMost = kMostValues<Value>;
  Values<Value> values{};
  PURLIN_KIT_NO_UNROLL
  for (uint32_t r = 0; r < n; ++r) {
    const Values<Value> next = Any::widen(dtype, ordered(dtype, op, sources[0]));
    PURLIN_KIT_UNROLL
    for (int i = 0; i + 1 < kMaxSources; ++i) sources[i] = sources[i + 1];
    if (r == 0) {
      values = next;
      continue;
    }
    switch (op) {
      case PURLIN_PROD:
        combine_values<PURLIN_PROD>(values, next);
        break;
      case PURLIN_MIN:
        combine_values<PURLIN_MIN>(values, next);
        break;
      case PURLIN_MAX:
        combine_values<PURLIN_MAX>(values, next);
        break;
      default:
        combine_values<PURLIN_SUM>(values, next);
    }
  }
  if (op == PURLIN_AVG) {
    PURLIN_KIT_NO_UNROLL
    for (int turn = 0; turn < kMost; ++turn) {
      const Value first = Any::average(dtype, values.value[0], nranks);
      PURLIN_KIT_UNROLL
      for (int i = 0; i + 1 < kMost; ++i) values.value[i] = values.value[i + 1];
      values.value[kMost - 1] = first;
    }
  }
  return ordered(dtype, op, Any::narrow(dtype, values));
}

PURLIN_KIT bool is_any_float(uint32_t dtype) {
  return dtype == PURLIN_F16 || dtype == PURLIN_BF16 || dtype == PURLIN_F32 ||
         dtype == PURLIN_F8E4M3 || dtype == PURLIN_F8E5M2;
}

/* reduce_words with both choices made at run time. Leaves `sources` in another order. */
template <int kMaxSources>
PURLIN_KIT Words8 reduce_any_words(uint32_t dtype, uint32_t op, Words8 (&sources)[kMaxSources],
                                   uint32_t n, uint32_t nranks) {
  if (is_any_float(dtype)) return reduce_any<AnyFloat>(dtype, op, sources, n, nranks);
  if (dtype == PURLIN_F64) return reduce_any<AnyDouble>(dtype, op, sources, n, nranks);
  return reduce_any<AnyInteger>(dtype, op, sources, n, nranks);
}

template <class Any>
PURLIN_KIT Words8 scale_any(uint32_t dtype, const Words8& words, typename Any::Value scalar) {
  Values<typename Any::Value> values = Any::widen(dtype, words);
  PURLIN_KIT_UNROLL
  for (int i = 0; i < kMostValues<typename Any::Value>; ++i)
    values.value[i] = multiply(values.value[i], scalar);
  return Any::narrow(dtype, values);
}

/* scale_words; `scalar` holds the bits of a value of the accumulation type. */
PURLIN_KIT Words8 scale_any_words(uint32_t dtype, const Words8& words, uint64_t scalar) {
  if (is_any_float(dtype))
    return scale_any<AnyFloat>(dtype, words, bit_cast<float>(static_cast<uint32_t>(scalar)));
  if (dtype == PURLIN_F64) return scale_any<AnyDouble>(dtype, words, bit_cast<double>(scalar));
  return scale_any<AnyInteger>(dtype, words, static_cast<int64_t>(scalar));
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_ANY_WORDS_H
