// NCCL's reductions as purlin's.
#pragma once

#include "nccl/comm.h"

namespace purlin::nccl {

// The accumulation type's bits of one element at `value`: f32 for f16, bf16 and fp8, else itself.
uint64_t accumulation_bits(Dtype dtype, const void* value);
size_t element_bytes(Dtype dtype);  // 0 for what is no type
inline bool is_dtype(Dtype dtype) { return dtype >= 0 && dtype < PURLIN_DTYPE_COUNT; }

// What of a purlin_call an operation decides. `scalar` is for PURLIN_PREMUL_SUM.
struct Reduction {
  purlin_op op = PURLIN_SUM;
  uint64_t scalar = 0;
};
// `op` as `comm` knows it, for elements of `dtype`. kInvalidArgument, remembered, for one that it
// does not know or that was made for another type. Reads a device scalar: see read_after in
// driver.h.
Result find_reduction(Comm& comm, int op, Dtype dtype, Stream stream, Reduction* out);

}  // namespace purlin::nccl
