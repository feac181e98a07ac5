/* purlin/kit/dtype.h: for each element type, how it lies in memory and what it accumulates in. */
#ifndef PURLIN_KIT_DTYPE_H
#define PURLIN_KIT_DTYPE_H

#include "purlin/kit/seam.h"

namespace purlin::kit {

/* Storage: an element as it lies in memory; floating types as their bits, so that reading an
 * element never changes a NaN. Accumulator: the type in which elements are combined. Factor: the
 * type in which PURLIN_AVG scales the finished sum (it holds any number of ranks). kFloating: whether
 * the type is a floating type. */
template <class StorageT, class AccumulatorT, class FactorT, bool kIsFloating>
struct DtypeOf {
  using Storage = StorageT;
  using Accumulator = AccumulatorT;
  using Factor = FactorT;
  static constexpr bool kFloating = kIsFloating;
};

template <purlin_dtype D>
struct Dtype;
template <>
struct Dtype<PURLIN_I8> : DtypeOf<int8_t, int8_t, int32_t, false> {};
template <>
struct Dtype<PURLIN_U8> : DtypeOf<uint8_t, uint8_t, uint32_t, false> {};
template <>
struct Dtype<PURLIN_I32> : DtypeOf<int32_t, int32_t, int32_t, false> {};
template <>
struct Dtype<PURLIN_U32> : DtypeOf<uint32_t, uint32_t, uint32_t, false> {};
template <>
struct Dtype<PURLIN_I64> : DtypeOf<int64_t, int64_t, int64_t, false> {};
template <>
struct Dtype<PURLIN_U64> : DtypeOf<uint64_t, uint64_t, uint64_t, false> {};
template <>
struct Dtype<PURLIN_F16> : DtypeOf<uint16_t, float, float, true> {};
template <>
struct Dtype<PURLIN_F32> : DtypeOf<uint32_t, float, float, true> {};
template <>
struct Dtype<PURLIN_F64> : DtypeOf<uint64_t, double, double, true> {};
template <>
struct Dtype<PURLIN_BF16> : DtypeOf<uint16_t, float, float, true> {};
template <>
struct Dtype<PURLIN_F8E4M3> : DtypeOf<uint8_t, float, float, true> {};
template <>
struct Dtype<PURLIN_F8E5M2> : DtypeOf<uint8_t, float, float, true> {};

template <purlin_dtype D>
using Accumulator = typename Dtype<D>::Accumulator;

template <purlin_dtype D>
using Storage = typename Dtype<D>::Storage;

/* Bytes of one element; 0 for a value that is no purlin_dtype. */
PURLIN_KIT constexpr uint32_t element_bytes(uint32_t dtype) {
  switch (dtype) {
    case PURLIN_I8:
    case PURLIN_U8:
    case PURLIN_F8E4M3:
    case PURLIN_F8E5M2:
      return 1;
    case PURLIN_F16:
    case PURLIN_BF16:
      return 2;
    case PURLIN_I32:
    case PURLIN_U32:
    case PURLIN_F32:
      return 4;
    case PURLIN_I64:
    case PURLIN_U64:
    case PURLIN_F64:
      return 8;
    default:
      return 0;
  }
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_DTYPE_H
