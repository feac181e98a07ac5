// What overrides a file: the environment, then the caller.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "policy/policy.h"
#include "status/status.h"

namespace purlin::policy {

// Reads one environment variable.
using Environment = std::function<std::optional<std::string>(const char* name)>;
// The process's own; nothing where the process runs with raised privileges. Thread-safe as long as
// nobody changes the environment meanwhile.
Environment process_environment();

// Applies the variables of docs/policy.md (PURLIN_TIMEOUT …). A bad value, or one that does not fit
// the rest of the policy, is PURLIN_POLICY_ERROR "environment variable NAME: …", and the policy is
// unchanged.
Status apply_environment(Policy& policy, const Environment& environment);

// cta_budget, timeout_ms (both time-outs) and checking of a communicator's options, where they are
// set.
void apply_options(Policy& policy, const purlin_comm_options& options);

// The variable that turns NVLS off, with its value ("NCCL_NVLS_ENABLE=0"), or nothing. Looked at in
// the order PURLIN_NVLS_ENABLE, NCCL_NVLS_ENABLE, TORCH_SYMM_MEM_DISABLE_MULTICAST,
// NVSHMEM_DISABLE_NVLS. It wins over every policy and call.
std::optional<std::string> nvls_off_switch(const Environment& environment);

}  // namespace purlin::policy
