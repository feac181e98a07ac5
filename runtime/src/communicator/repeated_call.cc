#include "communicator/repeated_call.h"

#include "communicator/buffers.h"

namespace purlin {
namespace {

bool points_further(const purlin_call& call) {
  return call.counts_on_device != 0 || call.send_counts != nullptr || call.send_displs != nullptr ||
         call.recv_counts != nullptr || call.recv_displs != nullptr || call.scalar != nullptr ||
         call.transformation != nullptr;
}

}  // namespace

void RepeatedCall::remember(const CallFacts& facts) {
  known_ = !points_further(*facts.call);
  if (!known_) return;
  call_ = *facts.call;
  facts_ = facts;
  facts_.call = &call_;
}

bool RepeatedCall::matches(const purlin_call& call, int nranks, int rank) {
  if (!known_ || call.struct_size != call_.struct_size || call.collective != call_.collective ||
      call.dtype != call_.dtype || call.op != call_.op || call.root != call_.root ||
      call.count != call_.count || call.path != call_.path || call.reduction != call_.reduction ||
      call.cta_budget != call_.cta_budget || points_further(call))
    return false;
  const bool in_place = facts_.in_place;
  facts_.call = &call;
  facts_.in_place = false;
  const bool right = check_buffers(&facts_, nranks, rank).is_ok() && facts_.in_place == in_place;
  facts_.call = &call_;
  facts_.in_place = in_place;
  return right;
}

}  // namespace purlin
