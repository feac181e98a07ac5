// Reads policies. Only reader.cc knows the YAML library.
#pragma once

#include <string>
#include <string_view>

#include "policy/policy.h"
#include "status/status.h"

namespace purlin::policy {

// Longest text that is read as a policy.
inline constexpr uint64_t kMaxTextBytes = 1ull << 20;

// Reads a policy's text; `file` is its name in messages and origins. Values that the text leaves
// out are those of built_in_policy(kind). Errors: PURLIN_POLICY_ERROR "FILE:LINE:COLUMN: …".
Result<Policy> read_policy(std::string_view text, const std::string& file, purlin_device_kind kind);

// The `version` and `match` of a policy, with nothing else looked at but the YAML itself.
Result<Match> read_match(std::string_view text, const std::string& file);

// The text of a file. PURLIN_SYSTEM_ERROR "FILE: cannot be read: reason", also for what is no
// regular file; PURLIN_POLICY_ERROR for one above kMaxTextBytes.
Result<std::string> read_text(const std::string& path);

}  // namespace purlin::policy
