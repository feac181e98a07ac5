// The plain serial meaning of a reduction, for checking results bit for bit.
#pragma once

#include <cstdint>

namespace purlin::tools {

// out[i] = the `source_count` sources' element i combined in index order, as docs/numerics.md has
// it: the accumulator starts as source 0 in the accumulation type (float for f16, bf16 and fp8,
// else the type), each further source is added in order, and the result is rounded once; NaN
// results are canonical; avg and the pre-multiplied sum as there. `scalars` holds one value of the
// accumulation type for each source and is read for PURLIN_PREMUL_SUM only. `out` overlaps no
// source.
void reference_reduce(int dtype, int op, const void* const* sources, int source_count,
                      const void* const* scalars, uint64_t count, void* out);

}  // namespace purlin::tools
