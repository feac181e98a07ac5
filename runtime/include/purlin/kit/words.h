/* purlin/kit/words.h: the whole reduction on a piece of 8 or 16 bytes held in registers.
 *
 * For device code that reduces 16-byte vectors and the 8-byte payloads of packets; the same code
 * runs on the host, where the tests compare it with everything else. Words hold memory as it lies,
 * little end first; a piece holds whole elements, element 0 in the lowest bits of word 0.
 *
 * Loops have constant trip counts and are unrolled on a GPU: with constant n nothing is indexed at
 * run time and nothing leaves the registers.
 */
#ifndef PURLIN_KIT_WORDS_H
#define PURLIN_KIT_WORDS_H

#include "purlin/kit/combine.h"
#include "purlin/kit/dtype.h"
#include "purlin/kit/finish.h"

namespace purlin::kit {

template <int kBytes>
struct alignas(kBytes) Words {
  static_assert(kBytes == 8 || kBytes == 16);
  uint32_t word[kBytes / 4];
};
using Words8 = Words<8>;
using Words16 = Words<16>;

/* Element i of the piece. */
template <purlin_dtype D, int kBytes>
PURLIN_KIT Storage<D> element_of(const Words<kBytes>& words, int i) {
  constexpr int kSize = static_cast<int>(sizeof(Storage<D>));
  if constexpr (kSize == 8) {
    const uint64_t low = words.word[2 * i];
    const uint64_t high = words.word[2 * i + 1];
    return static_cast<Storage<D>>(low | (high << 32));
  } else {
    return static_cast<Storage<D>>(words.word[i * kSize / 4] >> (i * kSize % 4 * 8));
  }
}

/* Puts element i into a piece whose bits at that place are zero. */
template <purlin_dtype D, int kBytes>
PURLIN_KIT void put_element(Words<kBytes>& words, int i, Storage<D> element) {
  constexpr int kSize = static_cast<int>(sizeof(Storage<D>));
  if constexpr (kSize == 8) {
    const uint64_t bits = static_cast<uint64_t>(element);
    words.word[2 * i] = static_cast<uint32_t>(bits);
    words.word[2 * i + 1] = static_cast<uint32_t>(bits >> 32);
  } else {
    constexpr uint32_t kMask = 0xFFFFFFFFu >> (32 - 8 * kSize);
    words.word[i * kSize / 4] |= (static_cast<uint32_t>(element) & kMask) << (i * kSize % 4 * 8);
  }
}

/* One piece's accumulators. begin with source 0, add sources 1, 2, … in order, finish. They may be
 * kept over several pipeline stages: the bits do not change. */
template <purlin_dtype D, purlin_op O, int kBytes>
class Accumulators {
 public:
  static constexpr int kElements = kBytes / static_cast<int>(sizeof(Storage<D>));

  PURLIN_KIT_MEMBER void begin(const Words<kBytes>& first) {
    PURLIN_KIT_UNROLL
    for (int i = 0; i < kElements; ++i) value_[i] = source<D>(element_of<D>(first, i));
  }

  PURLIN_KIT_MEMBER void add(const Words<kBytes>& next) {
    PURLIN_KIT_UNROLL
    for (int i = 0; i < kElements; ++i) {
      value_[i] = combine<O>(value_[i], source<D>(element_of<D>(next, i)));
    }
  }

  /* `factor` is average_factor<D>(nranks); used for PURLIN_AVG only. */
  PURLIN_KIT_MEMBER Words<kBytes> finish(typename Dtype<D>::Factor factor) const {
    Words<kBytes> out{};
    PURLIN_KIT_UNROLL
    for (int i = 0; i < kElements; ++i)
      put_element<D>(out, i, kit::finish<D, O>(value_[i], factor));
    return out;
  }

 private:
  Accumulator<D> value_[kElements];
};

/* Combines sources 0 … n-1, 1 <= n <= kMaxSources. Sources from n on are not looked at. */
template <purlin_dtype D, purlin_op O, int kBytes, int kMaxSources>
PURLIN_KIT Words<kBytes> reduce_words(const Words<kBytes> (&sources)[kMaxSources], uint32_t n,
                                      uint32_t nranks) {
  Accumulators<D, O, kBytes> accumulators;
  accumulators.begin(sources[0]);
  PURLIN_KIT_UNROLL
  for (uint32_t r = 1; r < kMaxSources; ++r) {
    if (r < n) accumulators.add(sources[r]);
  }
  return accumulators.finish(average_factor<D>(nranks));
}

/* The same with the operation chosen at run time (or by a link-time constant: the switch then
 * vanishes). */
template <purlin_dtype D, int kBytes, int kMaxSources>
PURLIN_KIT Words<kBytes> reduce_words(purlin_op op, const Words<kBytes> (&sources)[kMaxSources],
                                      uint32_t n, uint32_t nranks) {
  switch (op) {
    case PURLIN_PROD:
      return reduce_words<D, PURLIN_PROD>(sources, n, nranks);
    case PURLIN_MIN:
      return reduce_words<D, PURLIN_MIN>(sources, n, nranks);
    case PURLIN_MAX:
      return reduce_words<D, PURLIN_MAX>(sources, n, nranks);
    case PURLIN_AVG:
      return reduce_words<D, PURLIN_AVG>(sources, n, nranks);
    default:
      return reduce_words<D, PURLIN_SUM>(sources, n, nranks);
  }
}

/* Each element of a pre-multiplied sum's part times `scalar`. */
template <purlin_dtype D, int kBytes>
PURLIN_KIT Words<kBytes> scale_words(const Words<kBytes>& words,
                                     typename Dtype<D>::Accumulator scalar) {
  Words<kBytes> out{};
  PURLIN_KIT_UNROLL
  for (int i = 0; i < kBytes / static_cast<int>(sizeof(Storage<D>)); ++i) {
    put_element<D>(out, i, scale<D>(element_of<D>(words, i), scalar));
  }
  return out;
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_WORDS_H
