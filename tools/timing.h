// From time stamps to the figures of a row.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tools/outcome.h"

namespace purlin::tools {

// Microseconds a call of one rank.
struct Timing {
  double median = 0, average = 0, least = 0, p99 = 0, most = 0;
  uint64_t calls = 0;
};

// `samples`: microseconds a call, one entry a batch of `batch` calls. Empty samples give zeros. The
// median of an even number is the mean of the middle two; p99 is the smallest sample that at least
// 99 % do not exceed.
Timing summarize(std::vector<double> samples, uint64_t batch);

// `batches` times `batch` calls in a row with nothing between but one reading of the clock a batch.
// Ends at the first call that fails, with its error.
Outcome<std::vector<double>> time_calls(const std::function<Done()>& call, uint64_t batches,
                                        uint64_t batch);

// How many calls to time when nobody said, from the microseconds a warm-up call took on the slowest
// rank: about kRowMicroseconds in total, at least 10 calls; batches of about 20 µs, so that reading
// the clock does not count.
struct Plan {
  uint64_t batches = 0, batch = 1;
};
inline constexpr double kRowMicroseconds = 60'000;
Plan plan_calls(double microseconds_per_call);

}  // namespace purlin::tools
