// Calls a generic lambda with each dtype, or operation, as a compile-time constant.
#ifndef PURLIN_TESTS_KIT_DISPATCH_H
#define PURLIN_TESTS_KIT_DISPATCH_H

#include <utility>

#include "purlin/atom_abi.h"

namespace purlin::kit_test {

template <class Body>
void for_each_dtype(Body&& body) {
  [&]<int... kDtype>(std::integer_sequence<int, kDtype...>) {
    (body.template operator()<static_cast<purlin_dtype>(kDtype)>(), ...);
  }
  (std::make_integer_sequence<int, PURLIN_DTYPE_COUNT>{});
}

template <class Body>
void for_each_op(Body&& body) {
  [&]<int... kOp>(std::integer_sequence<int, kOp...>) {
    (body.template operator()<static_cast<purlin_op>(kOp)>(), ...);
  }
  (std::make_integer_sequence<int, PURLIN_OP_COUNT>{});
}

}  // namespace purlin::kit_test

#endif  // PURLIN_TESTS_KIT_DISPATCH_H
