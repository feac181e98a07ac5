// The answer of purlin_explain() for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace purlin::tools {

// Lines of at most 80 columns (paths may be longer). Parts that the answer lacks are left out.
std::string explain_text(const nlohmann::json& answer);

}  // namespace purlin::tools
