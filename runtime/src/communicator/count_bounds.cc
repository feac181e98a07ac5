#include "communicator/count_bounds.h"

namespace purlin {

std::optional<snac::CountExcess> above_bound(const CallFacts& facts, int nranks) {
  const purlin_call& call = *facts.call;
  snac::CountExcess excess;
  for (const uint64_t* row :
       {call.collective != PURLIN_ALL_GATHER_V ? call.send_counts : nullptr,
        call.collective != PURLIN_REDUCE_SCATTER_V ? call.recv_counts : nullptr}) {
    if (row == nullptr || excess.found != 0) continue;
    excess = snac::row_excess(row, static_cast<snac::u32>(nranks), facts.sizes.element_bytes,
                              call.bound_part, call.bound_total);
  }
  if (excess.found == 0) return {};
  return excess;
}

}  // namespace purlin
