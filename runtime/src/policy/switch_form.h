// Which collectives reduce, and which have a form that the switch carries out.
#pragma once

#include "policy/scope.h"

namespace purlin::policy {

inline constexpr CollectiveSet kReducingCollectives =
    set_of(PURLIN_ALL_REDUCE) | set_of(PURLIN_REDUCE_SCATTER) | set_of(PURLIN_REDUCE_SCATTER_V) |
    set_of(PURLIN_REDUCE) | set_of(PURLIN_CUSTOM);
inline constexpr CollectiveSet kSwitchCollectives =
    set_of(PURLIN_ALL_REDUCE) | set_of(PURLIN_REDUCE_SCATTER) | set_of(PURLIN_ALL_GATHER);

}  // namespace purlin::policy
