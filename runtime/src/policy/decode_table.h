// The parts of a policy that depend on the call: reduction, crossover, one_shot_limit, tuning.
#pragma once

#include "policy/decode_value.h"
#include "policy/policy.h"

namespace purlin::policy {

Status decode_reduction(const Place& place, const Node& node, Policy& policy);
Status decode_crossover(const Place& place, const Node& node, Policy& policy);
Status decode_one_shot_limit(const Place& place, const Node& node, Policy& policy);
Status decode_tuning(const Place& place, const Node& node, Policy& policy);

}  // namespace purlin::policy
