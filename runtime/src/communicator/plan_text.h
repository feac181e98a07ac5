// The derived plan of a call as JSON: roles in words, and what each rank sends and receives.
#pragma once

#include <nlohmann/json.hpp>

#include "communicator/launch.h"

namespace purlin {

// `launches` holds each rank's prepared launch of the same call.
nlohmann::ordered_json plan_json(const std::vector<Launch>& launches);

}  // namespace purlin
