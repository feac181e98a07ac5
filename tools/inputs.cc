#include "tools/inputs.h"

#include <algorithm>
#include <cstring>

#include "purlin/purlin.h"
#include "tools/names.h"

namespace purlin::tools {
namespace {

constexpr uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ull;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}
constexpr uint64_t kStep = 0x9E3779B97F4A7C15ull;

uint64_t key_of(const InputSource& source, int rank) {
  uint64_t key = mix(source.seed + kStep);
  for (uint64_t part : {static_cast<uint64_t>(rank), source.bytes, source.iteration,
                        static_cast<uint64_t>(source.dtype)})
    key = mix(key + kStep + part);
  return key;
}

struct Anything {
  template <class T>
  static T shape(T bits) {
    return bits == 0 ? T{0x5A} : bits;
  }
  template <class T>
  static T special(uint64_t, T value) {
    return value;
  }
};

struct Odd {
  template <class T>
  static T shape(T bits) {
    return static_cast<T>(bits | 1u);
  }
  template <class T>
  static T special(uint64_t, T value) {
    return value;
  }
};

// Floating point with the given field widths; exponents bias-4 … bias+3.
template <int kExponent, int kMantissa, bool kInfinity>
struct Float {
  template <class T>
  static T shape(T bits) {
    constexpr int kBias = (1 << (kExponent - 1)) - 1;
    constexpr T kFraction = static_cast<T>((T{1} << kMantissa) - 1);
    constexpr T kSign = static_cast<T>(T{1} << (kExponent + kMantissa));
    const T exponent = static_cast<T>(kBias - 4 + ((bits >> kMantissa) & 7));
    return static_cast<T>((bits & kSign) | (exponent << kMantissa) | (bits & kFraction));
  }
  template <class T>
  static T special(uint64_t choice, T value) {
    constexpr T kSign = static_cast<T>(T{1} << (kExponent + kMantissa));
    constexpr T kTop = static_cast<T>(((T{1} << kExponent) - 1) << kMantissa);
    constexpr T kLargest = static_cast<T>(kInfinity ? kTop - 1 : kSign - 2);
    const T sign = static_cast<T>(value & kSign);
    switch (choice % 6) {
      case 0:
        return static_cast<T>(sign | (kInfinity ? kTop : kLargest));
      case 1:
        return static_cast<T>(sign | (kSign - 1));  // a NaN in every format
      case 2:
        return static_cast<T>(sign | kLargest);
      case 3:
        return static_cast<T>(sign | 1);  // the smallest subnormal
      case 4:
        return static_cast<T>(sign | (T{1} << kMantissa));  // the smallest normal
      default:
        return static_cast<T>(sign | (T{1} << (kMantissa - 1)));  // a subnormal
    }
  }
};

// One 64-bit random word serves 8 / sizeof(T) elements; about one word in a thousand starts with a
// special value.
template <class T, class Shape>
void fill(uint64_t key, uint64_t first, uint64_t count, unsigned char* out) {
  constexpr uint64_t kPerWord = 8 / sizeof(T);
  uint64_t index = first;
  const uint64_t end = first + count;
  while (index < end) {
    const uint64_t word_index = index / kPerWord;
    const uint64_t word = mix(key + word_index * kStep);
    T elements[kPerWord];
    for (uint64_t i = 0; i < kPerWord; ++i)
      elements[i] = Shape::template shape<T>(static_cast<T>(word >> (8 * sizeof(T) * i)));
    const uint64_t dice = mix(word ^ kStep);
    if ((dice & 1023) == 0) elements[0] = Shape::template special<T>(dice >> 10, elements[0]);
    const uint64_t skip = index - word_index * kPerWord;
    const uint64_t here = std::min(kPerWord - skip, end - index);
    std::memcpy(out, elements + skip, here * sizeof(T));
    out += here * sizeof(T);
    index += here;
  }
}

template <class T>
Scalar scalar_from(T value) {
  Scalar scalar{};
  std::memcpy(scalar.bytes, &value, sizeof value);
  return scalar;
}

}  // namespace

void InputSource::block(int rank, uint64_t first, uint64_t count, void* out) const {
  unsigned char* bytes_out = static_cast<unsigned char*>(out);
  const uint64_t key = key_of(*this, rank);
  if (reducing) {
    switch (dtype) {
      case PURLIN_F16:
        return fill<uint16_t, Float<5, 10, true>>(key, first, count, bytes_out);
      case PURLIN_BF16:
        return fill<uint16_t, Float<8, 7, true>>(key, first, count, bytes_out);
      case PURLIN_F32:
        return fill<uint32_t, Float<8, 23, true>>(key, first, count, bytes_out);
      case PURLIN_F64:
        return fill<uint64_t, Float<11, 52, true>>(key, first, count, bytes_out);
      case PURLIN_F8E4M3:
        return fill<uint8_t, Float<4, 3, false>>(key, first, count, bytes_out);
      case PURLIN_F8E5M2:
        return fill<uint8_t, Float<5, 2, true>>(key, first, count, bytes_out);
      default:
        break;
    }
  }
  const bool odd = reducing && op == PURLIN_PROD;
  const auto integers = [&]<class T>(T) {
    odd ? fill<T, Odd>(key, first, count, bytes_out)
        : fill<T, Anything>(key, first, count, bytes_out);
  };
  switch (dtype_bytes(dtype)) {
    case 1:
      return integers(uint8_t{});
    case 2:
      return integers(uint16_t{});
    case 4:
      return integers(uint32_t{});
    default:
      return integers(uint64_t{});
  }
}

Scalar premul_scalar(int dtype, int rank) {
  switch (dtype) {
    case PURLIN_I8:
      return scalar_from(static_cast<int8_t>(3 + rank));
    case PURLIN_U8:
      return scalar_from(static_cast<uint8_t>(3 + rank));
    case PURLIN_I32:
      return scalar_from(static_cast<int32_t>(-3 - rank));
    case PURLIN_U32:
      return scalar_from(static_cast<uint32_t>(3 + rank));
    case PURLIN_I64:
      return scalar_from(static_cast<int64_t>(-3 - rank));
    case PURLIN_U64:
      return scalar_from(static_cast<uint64_t>(3 + rank));
    case PURLIN_F64:
      return scalar_from(0.7 + 0.1 * rank);
    default:
      return scalar_from(static_cast<float>(0.7 + 0.1 * rank));
  }
}

std::vector<Scalar> premul_scalars(int dtype, int nranks) {
  std::vector<Scalar> scalars;
  for (int rank = 0; rank < nranks; ++rank) scalars.push_back(premul_scalar(dtype, rank));
  return scalars;
}

}  // namespace purlin::tools
