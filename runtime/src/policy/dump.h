// A policy and a choice as JSON, each value with its origin; for `purlin explain`.
#pragma once

#include <nlohmann/json.hpp>

#include "policy/choose.h"
#include "policy/policy.h"
#include "policy/search.h"

namespace purlin::policy {

// {"value": …, "origin": {"source": "file", "file": …, "line": …, "column": …}} for each setting.
// File names need not be UTF-8: dump the result with nlohmann's error_handler_t::replace.
nlohmann::ordered_json to_json(const Policy& policy);
nlohmann::ordered_json to_json(const Choice& choice);
// [{"path", "rule", "verdict", "reason"}, …]
nlohmann::ordered_json to_json(const std::vector<Candidate>& trace);

}  // namespace purlin::policy
