// Reading an answer of the library without trusting its shape.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace purlin::tools {

// The member as text: strings as they are, numbers and booleans as JSON has them, "" where there is
// none or null.
std::string text_at(const nlohmann::json& object, const char* key);

// The member if it is a list or an object, otherwise an empty list.
const nlohmann::json& list_or_object(const nlohmann::json& object, const char* key);

// The member as a whole number, 0 where it is none or negative.
uint64_t number_at(const nlohmann::json& object, const char* key);

}  // namespace purlin::tools
