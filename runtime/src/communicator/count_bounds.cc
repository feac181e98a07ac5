#include "communicator/count_bounds.h"

namespace purlin {
namespace {

std::optional<Excess> above_bound(const uint64_t* counts, int n, const CallFacts& facts) {
  const uint64_t es = facts.sizes.element_bytes;
  const purlin_call& call = *facts.call;
  const uint64_t most = ~uint64_t{0} / es;
  uint64_t total = 0;
  for (int i = 0; i < n; ++i) {
    const uint64_t count = counts[i];
    if (count > call.bound_part) return Excess{std::min(count, most) * es, call.bound_part * es};
    total += count;  // at most n * 2^62, and a part beyond the total's bound ends the loop
    if (total > call.bound_total) return Excess{std::min(total, most) * es, call.bound_total * es};
  }
  return {};
}

}  // namespace

std::optional<Excess> above_bound(const CallFacts& facts, int nranks) {
  const purlin_call& call = *facts.call;
  std::optional<Excess> excess;
  if (call.collective != PURLIN_ALL_GATHER_V) excess = above_bound(call.send_counts, nranks, facts);
  if (!excess && call.collective != PURLIN_REDUCE_SCATTER_V)
    excess = above_bound(call.recv_counts, nranks, facts);
  return excess;
}

}  // namespace purlin
