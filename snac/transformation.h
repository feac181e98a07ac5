// A transformation: one or two steps from an input layout to an output layout.
#pragma once

#include "snac/layout.h"

namespace purlin::snac {

enum class Consume : u32 {
  kCopy = 0,   // each source's bytes land in a region of their own
  kReduce = 1  // all sources are combined in rank order
};

enum class RankSetKind : u32 { kAll = 0, kRoot = 1, kMask = 2 };

// A set of ranks; kRoot is resolved by the call's run-time root.
struct RankSet {
  RankSetKind kind = RankSetKind::kAll;
  u64 mask = 0;
};

PURLIN_HD constexpr bool contains(const RankSet& set, u32 rank, u32 root) {
  if (set.kind == RankSetKind::kAll) return true;
  if (set.kind == RankSetKind::kRoot) return rank == root;
  return (set.mask >> rank) & 1;
}

// Stagers offer the regions of their input; consumers copy or reduce them into their output.
struct Step {
  Layout input, output;
  Consume consume = Consume::kCopy;
  RankSet stagers, consumers;
};

// Two steps are composed: the first one's output, a rank's share, is the second one's input and
// never exists as a whole in a user's buffer.
struct Transformation {
  u32 step_count = 1;
  Step steps[2];
};

// Whether anything flows from `from` to `to` in this step (also when from == to).
PURLIN_HD constexpr bool flows(const Step& step, u32 n, u32 root, u32 from, u32 to) {
  return contains(step.stagers, from, root) && contains(step.consumers, to, root) &&
         has_region(step.input, n, from, to) && has_region(step.output, n, to, from);
}

// Whether every consumer of the step reads the same region of a stager.
PURLIN_HD constexpr bool shares_input(const Step& step) {
  return step.input.kind == LayoutKind::kPacked;
}

}  // namespace purlin::snac
