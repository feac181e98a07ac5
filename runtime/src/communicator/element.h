// Sizes of element types and of what they are accumulated in.
#pragma once

#include <cstdint>

#include "purlin/kit/dtype.h"

namespace purlin {

// Bytes of one element; 0 for a value that is no purlin_dtype.
constexpr uint64_t element_bytes(int dtype) {
  return kit::element_bytes(static_cast<uint32_t>(dtype));
}

// Bytes of the accumulation type: f32 for the short floats, else the type itself.
constexpr uint64_t accumulator_bytes(int dtype) {
  switch (dtype) {
    case PURLIN_F16: case PURLIN_BF16: case PURLIN_F8E4M3: case PURLIN_F8E5M2: return 4;
    default: return element_bytes(dtype);
  }
}

}  // namespace purlin
