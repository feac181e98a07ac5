// The collectives as data. Nothing here says who waits for whom: that is derived.
#pragma once

#include "snac/transformation.h"

namespace purlin::snac {

// Values equal purlin_collective of the public API.
enum class Collective : u32 {
  kAllGather = 0,
  kReduceScatter = 1,
  kAllReduce = 2,
  kAllToAll = 3,
  kAllGatherV = 4,
  kReduceScatterV = 5,
  kAllToAllV = 6,
  kBroadcast = 7,
  kReduce = 8,
  kScatter = 9,
  kGather = 10,
  kSendRecv = 11,
  kBarrier = 12,
  kCustom = 13
};

namespace detail {
inline constexpr Layout kPacked{LayoutKind::kPacked};
inline constexpr Layout kScattered{LayoutKind::kScattered};
inline constexpr Layout kTransposed{LayoutKind::kTransposed};
inline constexpr RankSet kAll{RankSetKind::kAll};
inline constexpr RankSet kRoot{RankSetKind::kRoot};

PURLIN_HD constexpr Transformation one_step(Layout in, Layout out, Consume consume,
                                            RankSet stagers = kAll, RankSet consumers = kAll) {
  Transformation t;
  t.step_count = 1;
  t.steps[0] = Step{in, out, consume, stagers, consumers};
  return t;
}

PURLIN_HD constexpr Transformation two_steps(const Transformation& a, const Transformation& b) {
  Transformation t;
  t.step_count = 2;
  t.steps[0] = a.steps[0];
  t.steps[1] = b.steps[0];
  return t;
}
}  // namespace detail

// `one_shot` asks for the form of AllReduce in which every rank reduces everything.
PURLIN_HD constexpr Transformation transformation_of(Collective collective, bool one_shot = false) {
  using namespace detail;
  const auto gather_all = one_step(kPacked, kScattered, Consume::kCopy);
  const auto reduce_share = one_step(kScattered, kPacked, Consume::kReduce);
  switch (collective) {
    case Collective::kAllGather:
    case Collective::kAllGatherV:
      return gather_all;
    case Collective::kReduceScatter:
    case Collective::kReduceScatterV:
      return reduce_share;
    case Collective::kAllReduce:
      if (one_shot) return one_step(kPacked, kPacked, Consume::kReduce);
      return two_steps(reduce_share, gather_all);
    case Collective::kBroadcast:
      return two_steps(one_step(kScattered, kPacked, Consume::kCopy, kRoot, kAll), gather_all);
    case Collective::kReduce:
      return two_steps(reduce_share, one_step(kPacked, kScattered, Consume::kCopy, kAll, kRoot));
    case Collective::kScatter:
      return one_step(kScattered, kPacked, Consume::kCopy, kRoot, kAll);
    case Collective::kGather:
      return one_step(kPacked, kScattered, Consume::kCopy, kAll, kRoot);
    default:  // AllToAll(V); a barrier is one of no bytes
      return one_step(kScattered, kTransposed, Consume::kCopy);
  }
}

}  // namespace purlin::snac
