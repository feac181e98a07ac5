#include "policy/effective.h"

#include <algorithm>

#include "policy/capacity.h"

namespace purlin::policy {

Setting<uint64_t> effective_crossover(const Policy& policy, purlin_collective collective,
                                      int nranks) {
  Setting<uint64_t> setting = policy.crossover.at(collective, nranks, 0);
  if (setting.origin.source == Source::kBuiltIn)
    setting.value = std::min(setting.value, packet_capacity(policy, collective, nranks, false));
  return setting;
}

Setting<uint64_t> effective_one_shot_limit(const Policy& policy, int nranks) {
  Setting<uint64_t> setting = policy.one_shot_limit.at(PURLIN_ALL_REDUCE, nranks, 0);
  if (setting.origin.source == Source::kBuiltIn)
    setting.value =
        std::min(setting.value, packet_capacity(policy, PURLIN_ALL_REDUCE, nranks, true));
  const Setting<uint64_t> crossover = effective_crossover(policy, PURLIN_ALL_REDUCE, nranks);
  return crossover.value < setting.value ? crossover : setting;
}

Setting<uint64_t> effective_chunk(const Policy& policy, const Setting<uint64_t>& chunk,
                                  int nranks) {
  Setting<uint64_t> setting = chunk;
  if (setting.origin.source == Source::kBuiltIn)
    setting.value = std::min(setting.value, largest_chunk(policy, nranks));
  return setting;
}

const TuningRow* tuning_row(const Policy& policy, purlin_collective collective, int nranks,
                            uint64_t bytes) {
  for (const TuningRow& row : policy.tuning_rows)
    if (row.scope.contains(collective, nranks, bytes)) return &row;
  return nullptr;
}

uint64_t largest_chunk(const Policy& policy, int nranks) {
  const auto n = static_cast<uint64_t>(std::max(nranks, 1));
  return policy.staging.throughput_bytes.value / (2 * n) / 16 * 16;
}

}  // namespace purlin::policy
