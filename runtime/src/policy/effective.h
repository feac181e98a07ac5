// Settings of a policy at one number of ranks. A built-in default gives way to what the staging can
// hold; a value that somebody wrote never does, it was checked.
#pragma once

#include "policy/policy.h"

namespace purlin::policy {

Setting<uint64_t> effective_crossover(const Policy& policy, purlin_collective collective,
                                      int nranks);
// Not above the crossover of all_reduce.
Setting<uint64_t> effective_one_shot_limit(const Policy& policy, int nranks);
// `chunk` as a row or the default states it.
Setting<uint64_t> effective_chunk(const Policy& policy, const Setting<uint64_t>& chunk, int nranks);

// The row of `tuning` that holds the call, or NULL.
const TuningRow* tuning_row(const Policy& policy, purlin_collective collective, int nranks,
                            uint64_t bytes);

// Largest chunk, a multiple of 16, that throughput staging holds once for each rank and step: a
// call of two steps that pushes needs so many slots.
uint64_t largest_chunk(const Policy& policy, int nranks);

}  // namespace purlin::policy
