// Counts that are read when the call runs, held against the bounds that the call states.
#pragma once

#include <optional>

#include "communicator/call_facts.h"
#include "snac/listed.h"

namespace purlin {

// The first count of this rank's arrays, in host memory, that exceeds its bound, or the sum of a
// row that does; nothing when all are within.
std::optional<snac::CountExcess> above_bound(const CallFacts& facts, int nranks);

}  // namespace purlin
