#include <algorithm>

#include "policy/capacity.h"
#include "policy/choose.h"
#include "policy/effective.h"

namespace purlin::policy {
namespace {

// Sizes at which a choice may change, each the last of its stretch.
std::vector<uint64_t> boundaries(const Policy& policy, purlin_collective collective, int nranks) {
  std::vector<uint64_t> ends = {effective_crossover(policy, collective, nranks).value,
                                packet_capacity(policy, collective, nranks, false), kNoLimit};
  if (collective == PURLIN_ALL_REDUCE)
    ends.push_back(effective_one_shot_limit(policy, nranks).value);
  const auto add = [&](const Scope& scope) {
    if ((scope.collectives & set_of(collective)) == 0 || !scope.ranks.contains(nranks)) return;
    if (scope.bytes.above != 0) ends.push_back(scope.bytes.above);
    ends.push_back(scope.bytes.up_to);
  };
  for (const TuningRow& row : policy.tuning_rows) add(row.scope);
  for (const auto& row : policy.reduction.rows) add(row.scope);
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

}  // namespace

ChoiceTable::ChoiceTable(const Policy& policy, int nranks,
                         const std::vector<std::string>& switch_refusal)
    : entries_(PURLIN_COLLECTIVE_COUNT) {
  for (unsigned c = 0; c < PURLIN_COLLECTIVE_COUNT; ++c) {
    Query query;
    query.collective = static_cast<purlin_collective>(c);
    query.nranks = nranks;
    query.switch_refusal = switch_refusal.at(c);
    for (const uint64_t end : boundaries(policy, query.collective, nranks)) {
      query.bytes = end;
      entries_[c].push_back({end, choose(policy, query)});
    }
  }
}

const Result<Choice>& ChoiceTable::at(purlin_collective collective, uint64_t bytes) const {
  const std::vector<Entry>& list = entries(collective);
  const auto found =
      std::lower_bound(list.begin(), list.end(), bytes,
                       [](const Entry& entry, uint64_t size) { return entry.up_to < size; });
  return found->choice;
}

const std::vector<ChoiceTable::Entry>& ChoiceTable::entries(purlin_collective collective) const {
  return entries_.at(static_cast<size_t>(collective));
}

}  // namespace purlin::policy
