// The answer of purlin_plugins() for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace purlin::tools {

// Lines of at most 80 columns (paths may be longer). Parts that the answer lacks are left out.
std::string plugins_text(const nlohmann::json& answer);

}  // namespace purlin::tools
