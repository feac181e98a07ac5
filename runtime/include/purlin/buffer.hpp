// purlin/buffer.hpp: what purlin.hpp accepts as a buffer, and the dtype of its elements.
#ifndef PURLIN_BUFFER_HPP
#define PURLIN_BUFFER_HPP

#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

#include "purlin/purlin.h"

namespace purlin {

// The purlin_dtype of a C++ type. Specialize it for types of your own (half precision, fp8) whose
// bytes are those of the dtype.
template <class T>
struct DtypeOf;
template <purlin_dtype value_of>
struct DtypeIs {
  static constexpr purlin_dtype value = value_of;
};
template <>
struct DtypeOf<int8_t> : DtypeIs<PURLIN_I8> {};
template <>
struct DtypeOf<uint8_t> : DtypeIs<PURLIN_U8> {};
template <>
struct DtypeOf<int32_t> : DtypeIs<PURLIN_I32> {};
template <>
struct DtypeOf<uint32_t> : DtypeIs<PURLIN_U32> {};
template <>
struct DtypeOf<int64_t> : DtypeIs<PURLIN_I64> {};
template <>
struct DtypeOf<uint64_t> : DtypeIs<PURLIN_U64> {};
template <>
struct DtypeOf<float> : DtypeIs<PURLIN_F32> {};
template <>
struct DtypeOf<double> : DtypeIs<PURLIN_F64> {};

template <class R>
using ElementOf = std::remove_cv_t<std::ranges::range_value_t<R>>;
template <class R>
inline constexpr purlin_dtype dtype_of = DtypeOf<ElementOf<R>>::value;

// Something that can be sent from: contiguous, sized, of a known element type.
template <class R>
concept Buffer = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> && requires {
  DtypeOf<ElementOf<R>>::value;
};
// A Buffer that can be written, of the same elements as In.
template <class R, class In>
concept OutputFor = Buffer<R> && std::is_same_v<ElementOf<R>, ElementOf<In>> &&
    !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

using Counts = std::span<const uint64_t>;

}  // namespace purlin
#endif  // PURLIN_BUFFER_HPP
