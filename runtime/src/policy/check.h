// The checks of a policy that need nothing but the policy.
#pragma once

#include "policy/policy.h"
#include "status/status.h"

namespace purlin::policy {

// What cannot be met at any number of ranks that the setting is for: crossovers above the packets'
// capacity, a chunk above the staging, more than kMaxCtas. PURLIN_POLICY_ERROR as check_against.
Status check_file(const Policy& policy);

}  // namespace purlin::policy
