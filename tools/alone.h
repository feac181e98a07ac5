// One row of a rank that runs by itself: its peers' part of each call is worked out on the host.
#pragma once

#include <functional>
#include <string>

#include "tools/bench.h"

namespace purlin::tools {

// As measure(), called for `rank` alone; no peer of `comm` makes any call. Only what this rank's
// memory holds is checked. Timed calls are repetitions of one call, so after those in place one
// more is checked.
Outcome<Row> measure_alone(const Case& test, const BenchSettings& settings, int rank,
                           purlin_comm_t comm, RankDevice& device,
                           const std::function<void(const std::string&)>& complain);

}  // namespace purlin::tools
