#include "tools/check/subject.h"

#include <algorithm>

#include "tools/json_text.h"

namespace purlin::tools::check {

purlin_atom_limits Subject::limits() const {
  const nlohmann::json& told = list_or_object(atom, "limits");
  const auto value = [&](const char* key) { return static_cast<uint32_t>(number_at(told, key)); };
  purlin_atom_limits limits{};
  limits.struct_size = sizeof limits;
  limits.max_sources = value("max_sources");
  limits.max_destinations = value("max_destinations");
  limits.min_stages = value("min_stages");
  limits.max_stages = value("max_stages");
  limits.default_stages = value("default_stages");
  limits.min_stage_bytes = value("min_stage_bytes");
  limits.max_stage_bytes = value("max_stage_bytes");
  limits.default_stage_bytes = value("default_stage_bytes");
  limits.min_threads = value("min_threads");
  limits.max_threads = value("max_threads");
  limits.default_threads = value("default_threads");
  limits.shared_bytes_fixed = value("shared_bytes_fixed");
  // Without REDUCE they are what the switch does.
  if ((number_at(atom, "capabilities") & PURLIN_CAP_REDUCE) == 0) return limits;
  const auto masks = atom.value("op_mask", std::vector<uint32_t>());
  std::copy_n(masks.begin(), std::min<size_t>(masks.size(), PURLIN_DTYPE_COUNT), limits.op_mask);
  return limits;
}

}  // namespace purlin::tools::check
