#include "tools/timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace purlin::tools {

Timing summarize(std::vector<double> samples, uint64_t batch) {
  Timing timing;
  if (samples.empty()) return timing;
  std::sort(samples.begin(), samples.end());
  const size_t n = samples.size();
  timing.median = n % 2 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
  timing.average = std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(n);
  timing.least = samples.front();
  timing.p99 = samples[(n * 99 + 99) / 100 - 1];
  timing.most = samples.back();
  timing.calls = n * batch;
  return timing;
}

Outcome<std::vector<double>> time_calls(const std::function<Done()>& call, uint64_t batches,
                                        uint64_t batch) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> samples(batches);
  auto start = Clock::now();
  for (double& sample : samples) {
    for (uint64_t i = 0; i < batch; ++i)
      if (const Done made = call(); !made) return Error{made.error()};
    const auto end = Clock::now();
    sample =
        std::chrono::duration<double, std::micro>(end - start).count() / static_cast<double>(batch);
    start = end;
  }
  return samples;
}

Plan plan_calls(double microseconds_per_call) {
  const double time = std::max(microseconds_per_call, 0.01);
  const double calls = std::clamp(kRowMicroseconds / time, 10.0, 20'000.0);
  const double batch = std::clamp(std::floor(20 / time), 1.0, 100.0);
  return {static_cast<uint64_t>(std::ceil(calls / batch)), static_cast<uint64_t>(batch)};
}

}  // namespace purlin::tools
