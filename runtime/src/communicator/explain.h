// What a call would do, in words and numbers, without doing it.
#pragma once

#include <nlohmann/json.hpp>

#include "communicator/communicator.h"
#include "purlin/purlin.h"
#include "status/status.h"

namespace purlin {

// The answer of purlin_explain; keys in docs/explain.md. `query` need not name a device that is there.
// With `comm` (may be null) device, policy, Atom and ranks are that communicator's.
// PURLIN_INVALID_ARGUMENT for a query that makes no sense, else the errors of the policy and plugins.
Result<nlohmann::ordered_json> explain_call(const purlin_query& query, const Communicator* comm);

// The answer of purlin_plugins; keys in docs/plugins.md. `comm` as above.
Result<nlohmann::ordered_json> explain_plugins(const purlin_query& query, const Communicator* comm);

}  // namespace purlin
