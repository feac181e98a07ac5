// What a checked call comes to: its shape in bytes, its size T, its transformation.
#pragma once

#include "purlin/purlin.h"
#include "snac/plan.h"
#include "status/status.h"

namespace purlin {

// Facts of a call that do not depend on the policy. `call` must outlive it.
struct CallFacts {
  const purlin_call* call = nullptr;
  snac::Collective collective = snac::Collective::kAllReduce;
  snac::CallSizes sizes;
  uint64_t total_bytes = 0;    // T of docs/policy.md; of own rows for all_to_all_v
  uint64_t largest_part = 0;   // V forms whose parts every rank knows
  bool reduces = false;
  bool rooted = false;
  bool in_place = false;
  snac::Transformation custom;  // PURLIN_CUSTOM
};

// Checks everything that one rank can check alone: enumerators, root, counts whose bytes overflow,
// null or overlapping buffers, a custom transformation that cannot run. Nothing is changed.
// PURLIN_INVALID_ARGUMENT says which argument, its value and what is expected.
Result<CallFacts> check_call(const purlin_call& call, int nranks, int rank);

// "all_reduce", or "value 99 that is no collective".
std::string collective_text(int collective);
std::string dtype_text(int dtype);
std::string op_text(int op);

}  // namespace purlin
