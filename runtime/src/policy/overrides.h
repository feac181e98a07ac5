// What overrides a file: the environment, then the caller.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "policy/policy.h"
#include "status/status.h"

namespace purlin::policy {

// Reads one environment variable; absent and empty differ.
using Environment = std::function<std::optional<std::string>(const char* name)>;
// The process's own.
Environment process_environment();

// PURLIN_TIMEOUT, PURLIN_CREATE_TIMEOUT, PURLIN_REDUCTION, PURLIN_PATH, PURLIN_CTA_BUDGET,
// PURLIN_CHECKING, PURLIN_CROSSOVER, PURLIN_CHUNK, PURLIN_DATAPATH. A bad value is
// PURLIN_POLICY_ERROR "environment variable NAME: …"; the policy is then unchanged.
Status apply_environment(Policy& policy, const Environment& environment);

// cta_budget, timeout_ms and checking of a communicator's options, where they are set.
void apply_options(Policy& policy, const purlin_comm_options& options);

// The variable that turns NVLS off ("NCCL_NVLS_ENABLE=0", …), or nothing. PURLIN_NVLS_ENABLE,
// NCCL_NVLS_ENABLE, TORCH_SYMM_MEM_DISABLE_MULTICAST, NVSHMEM_DISABLE_NVLS; it wins over every
// policy.
std::optional<std::string> nvls_off_switch(const Environment& environment);

}  // namespace purlin::policy
