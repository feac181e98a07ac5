// Whether a policy is for a device.
#pragma once

#include <string>

#include "policy/policy.h"
#include "purlin/atom_abi.h"
#include "status/status.h"

namespace purlin::policy {

// Empty if it fits, else why not: "architecture sm_80 is not sm_90 (h200.yaml:4:18)".
std::string mismatch(const Match& match, const purlin_device_facts& device);

// Greater is more specific: name, then architecture, then kind.
int specificity(const Match& match);

// The kind of a device's facts: HOST or CUDA.
purlin_device_kind kind_of(const purlin_device_facts& device);

// "host", "sm_90 (NVIDIA H200)".
std::string device_text(const purlin_device_facts& device);

// The facts of a device that need not be there: "host", "sm_90". Sizes are those of a usual product
// of that architecture. PURLIN_INVALID_ARGUMENT for any other text. `name` points to constant data.
Result<purlin_device_facts> device_facts_of(const std::string& device);

}  // namespace purlin::policy
