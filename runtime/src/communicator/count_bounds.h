// Counts that are read when the call runs, held against the bounds that the call states.
#pragma once

#include <optional>

#include "communicator/call_facts.h"

namespace purlin {

struct Excess {
  uint64_t found = 0;  // bytes of a part, or of all parts together
  uint64_t bound = 0;
};

// The first count of this rank's arrays, in host memory, that exceeds its bound, or the sum of a
// row that does; nothing when all are within.
std::optional<Excess> above_bound(const CallFacts& facts, int nranks);

}  // namespace purlin
