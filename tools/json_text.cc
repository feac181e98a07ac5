#include "tools/json_text.h"

namespace purlin::tools {
namespace {

const nlohmann::json* member(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

}  // namespace

std::string text_at(const nlohmann::json& object, const char* key) {
  const nlohmann::json* value = member(object, key);
  if (!value || value->is_null()) return "";
  return value->is_string() ? value->get<std::string>() : value->dump();
}

const nlohmann::json& list_or_object(const nlohmann::json& object, const char* key) {
  static const nlohmann::json empty = nlohmann::json::array();
  const nlohmann::json* value = member(object, key);
  return value && value->is_structured() ? *value : empty;
}

uint64_t number_at(const nlohmann::json& object, const char* key) {
  const nlohmann::json* value = member(object, key);
  if (!value || !value->is_number_integer()) return 0;
  return value->is_number_unsigned() || value->get<int64_t>() >= 0 ? value->get<uint64_t>() : 0;
}

}  // namespace purlin::tools
