// From what stopped ranks left in memory to an error that says who waited for whom and why.
#pragma once

#include <functional>
#include <string>

#include "snac/call.h"
#include "status/status.h"

namespace purlin {

// "rank 3 (process 4711)"; what describes a peer in messages.
using DescribeRank = std::function<std::string(int rank)>;

// The error of a rank whose Control::stop is set. `own` and the Control of the rank that said stop
// are read; `culprit_of(rank)` maps a rank to its Control or nullptr when it cannot be read.
// `lost` is the rank whose process ended, or -1.
Status report_stop(const snac::Control& own, int rank, int lost, const std::string& communicator,
                   const std::function<const snac::Control*(int rank)>& control_of,
                   const DescribeRank& describe);

// "all_reduce of 1024 f32, sum"; a call's descriptor in words.
std::string describe_descriptor(uint64_t call);

}  // namespace purlin
