// From a document's tree to a typed policy.
#pragma once

#include <string>

#include "policy/document.h"
#include "policy/policy.h"
#include "status/status.h"

namespace purlin::policy {

// `policy` holds the defaults and receives what `root` says. The first fault in the file's order is
// the error: PURLIN_POLICY_ERROR "FILE:LINE:COLUMN: …". On an error `policy` is half-written.
Status decode_policy(const Node& root, const std::string& file, Policy& policy);

// `version` and `match` alone.
Status decode_match(const Node& root, const std::string& file, Match& match);

}  // namespace purlin::policy
