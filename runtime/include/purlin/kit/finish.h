/* purlin/kit/finish.h: from the accumulator to the stored element, and the factor of a scaled part.
 */
#ifndef PURLIN_KIT_FINISH_H
#define PURLIN_KIT_FINISH_H

#include "purlin/kit/arithmetic.h"
#include "purlin/kit/combine.h"
#include "purlin/kit/convert.h"
#include "purlin/kit/dtype.h"

namespace purlin::kit {

/* What an average needs of the number of ranks (at least 1), computed once and not for each
 * element: 1/n rounded to the accumulation type for floating types, n itself for integers. */
template <purlin_dtype D>
PURLIN_KIT typename Dtype<D>::Factor average_factor(uint32_t nranks) {
  using Factor = typename Dtype<D>::Factor;
  if constexpr (Dtype<D>::kFloating) {
    return divide(Factor{1}, static_cast<Factor>(nranks));
  } else {
    return static_cast<Factor>(nranks);
  }
}

/* A source as the accumulator's first value or next operand. */
template <purlin_dtype D>
PURLIN_KIT Accumulator<D> source(Storage<D> element) {
  return static_cast<Accumulator<D>>(widen<D>(element));
}

/* The element that is stored. `factor` is average_factor<D>(n) and matters for PURLIN_AVG only. */
template <purlin_dtype D, purlin_op O>
PURLIN_KIT Storage<D> finish(Accumulator<D> accumulator, typename Dtype<D>::Factor factor) {
  if constexpr (O == PURLIN_AVG) {
    if constexpr (Dtype<D>::kFloating) {
      return narrow<D>(multiply(accumulator, factor));
    } else {
      return static_cast<Storage<D>>(accumulator / factor); /* C++ truncates toward zero */
    }
  } else {
    return narrow<D>(accumulator);
  }
}

/* A rank's own part of a pre-multiplied sum: its source. */
template <purlin_dtype D>
PURLIN_KIT Storage<D> scale(Storage<D> element, typename Dtype<D>::Accumulator scalar) {
  return narrow<D>(multiply(widen<D>(element), scalar));
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_FINISH_H
