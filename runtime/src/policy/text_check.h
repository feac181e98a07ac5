// What must hold of a policy's bytes before they are read as YAML.
#pragma once

#include <string>
#include <string_view>

#include "status/status.h"

namespace purlin::policy {

// The text without byte-order mark and with LF line ends. PURLIN_POLICY_ERROR "FILE:LINE:COLUMN: …"
// for more than kMaxTextBytes, bytes that are not UTF-8, control characters and tabs outside
// comments. Columns count characters.
Result<std::string> checked_text(std::string_view text, const std::string& file);

}  // namespace purlin::policy
