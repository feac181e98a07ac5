// The answer of purlin_prelink() for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace purlin::tools {

// A line a program: name, size, and the registers of its largest kernel.
std::string prelink_text(const nlohmann::json& answer, const std::string& folder);

}  // namespace purlin::tools
