// V forms whose counts lie in memory that is read when the call runs: what a kernel works out of
// them before anything else. All of them have one step.
#pragma once

#include "snac/call.h"

namespace purlin::snac {

struct CountExcess {
  u64 found = 0;  // bytes of a part, or of all parts of a row together; 0: none
  u64 bound = 0;
};

// The first count of a row that exceeds its bound, or the row's total that does. Elements have 8
// bytes at most, bounds 2^62 together.
PURLIN_HD constexpr CountExcess row_excess(const u64* counts, u32 n, u64 element_bytes,
                                           u64 bound_part, u64 bound_total) {
  constexpr u64 kMost = u64{1} << 60;
  u64 total = 0;
  for (u32 i = 0; i < n; ++i) {
    const u64 count = counts[i];
    if (count > bound_part)
      return {smaller(count, kMost) * element_bytes, bound_part * element_bytes};
    total += count;  // at most n * 2^62, and a part beyond the total's bound ends the loop
    if (total > bound_total)
      return {smaller(total, kMost) * element_bytes, bound_total * element_bytes};
  }
  return {};
}

// Of either row that the call has: a packed part is one of the other row's.
PURLIN_HD constexpr CountExcess listed_excess(const ListedCall& call, u32 n) {
  const u64 es = call.input.element_bytes;
  CountExcess excess;
  if (call.input_packed == 0)
    excess = row_excess(call.input.counts, n, es, call.bound_part, call.bound_total);
  if (excess.found == 0 && call.output_packed == 0)
    excess = row_excess(call.output.counts, n, es, call.bound_part, call.bound_total);
  return excess;
}

// What flows between this rank and one peer, of counts that are within their bounds. The regions of
// V forms are one for each rank, in the order of ranks.
struct ListedFlow {
  Extent send;
  Extent receive;
  u32 send_signature = 0;
  u32 receive_signature = 0;
};

PURLIN_HD constexpr ListedFlow listed_flow(const ListedCall& call, u32 n, u32 rank, u32 peer) {
  const auto layout = [](u32 packed) {
    return Layout{packed != 0 ? LayoutKind::kPacked : LayoutKind::kScattered};
  };
  ListedFlow flow;
  flow.send = region_extent(call.input, layout(call.input_packed), n, rank, peer);
  flow.receive = region_extent(call.output, layout(call.output_packed), n, rank, peer);
  flow.send_signature = pair_signature(call.call_hash, flow.send.bytes);
  flow.receive_signature = pair_signature(call.call_hash, flow.receive.bytes);
  return flow;
}

}  // namespace purlin::snac
