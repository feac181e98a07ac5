#include "policy/overrides.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "policy/check.h"
#include "policy/limits.h"
#include "policy/nearest.h"
#include "policy/quantity.h"
#include "policy/words.h"

namespace purlin::policy {
namespace {

// One variable that is set: its text, its origin and how to complain.
struct Variable {
  const char* name;
  std::string text;

  Origin origin() const { return {Source::kEnvironment, name, 0, 0}; }
  Status error(const std::string& what) const {
    return Status(PURLIN_POLICY_ERROR, fmt::format("environment variable {}: {}", name, what));
  }
  Status not_a_word(const std::vector<std::string>& words) const {
    return error(fmt::format("{} is not one of its words{} Write one of: {}", quoted(text),
                             nearest_word(text, words) ? did_you_mean(text, words) : ".",
                             comma_list(words)));
  }
};

Status on_or_off(const Variable& v, Setting<bool>& setting) {
  if (v.text != "on" && v.text != "off") return v.not_a_word({"on", "off"});
  setting = {v.text == "on", v.origin()};
  return Status::ok();
}

Status duration(const Variable& v, Setting<std::chrono::milliseconds>& setting) {
  const auto parsed = parse_duration(v.text);
  if (!parsed.is_ok()) return v.error(parsed.error);
  setting = {parsed.value, v.origin()};
  return Status::ok();
}

Status size(const Variable& v, const Bounds& bounds, Setting<uint64_t>& setting) {
  const auto parsed = parse_size(v.text);
  if (!parsed.is_ok()) return v.error(parsed.error);
  if (parsed.value < bounds.least || parsed.value > bounds.most ||
      parsed.value % bounds.multiple != 0)
    return v.error(fmt::format("{} is outside {}..{} or no multiple of {}; write one that is not",
                               quoted(v.text), format_size(bounds.least), format_size(bounds.most),
                               bounds.multiple));
  setting = {parsed.value, v.origin()};
  return Status::ok();
}

Status set_reduction(const Variable& v, Policy& policy) {
  const auto value = from_word<purlin_reduction>(v.text);
  if (!value) return v.not_a_word(words_of<purlin_reduction>());
  policy.reduction.rows.clear();
  policy.reduction.otherwise = {*value, v.origin()};
  return Status::ok();
}

Status set_crossover(const Variable& v, Policy& policy) {
  policy.crossover.rows.clear();
  return size(v, kAnySize, policy.crossover.otherwise);
}

Status set_path(const Variable& v, Policy& policy) {
  std::vector<std::string> words = words_of<purlin_path>();
  words.emplace_back(word(PURLIN_PATH_SWITCH));
  const auto found = std::find(words.begin(), words.end(), v.text);
  if (found == words.end()) return v.not_a_word(words);
  const purlin_path value = from_word<purlin_path>(v.text).value_or(PURLIN_PATH_SWITCH);
  policy.tuning.path = Setting<purlin_path>{value, v.origin()};
  for (TuningRow& row : policy.tuning_rows) row.tuning.path.reset();
  return Status::ok();
}

Status set_chunk(const Variable& v, Policy& policy) {
  for (TuningRow& row : policy.tuning_rows) row.tuning.chunk.reset();
  return size(v, kChunk, *policy.tuning.chunk);
}

Status set_cta_budget(const Variable& v, Policy& policy) {
  if (v.text == "auto") {
    policy.cta_budget = {0, v.origin()};
    return Status::ok();
  }
  const auto parsed = parse_count(v.text);
  if (!parsed.is_ok()) return v.error(parsed.error + ", or auto");
  if (parsed.value < kCtas.least || parsed.value > kCtas.most)
    return v.error(fmt::format("{} is outside {}..{}; write one within, or auto", quoted(v.text),
                               kCtas.least, kCtas.most));
  policy.cta_budget = {static_cast<uint32_t>(parsed.value), v.origin()};
  return Status::ok();
}

Status set_datapath(const Variable& v, Policy& policy) {
  Words words;
  for (size_t from = 0; from <= v.text.size();) {
    const size_t comma = std::min(v.text.find(',', from), v.text.size());
    words.push_back({v.text.substr(from, comma - from), v.origin()});
    if (words.back().value.empty())
      return v.error(fmt::format("{} holds an empty name; write names with one comma between",
                                 quoted(v.text)));
    if (words.size() > 1 && words[words.size() - 2].value == "auto")
      return v.error("auto stands before other words, which would never be tried; write it last");
    from = comma + 1;
  }
  policy.datapath.prefer = std::move(words);
  return Status::ok();
}

Status check_nvls(const Variable& v, Policy&) {
  if (v.text != "0" && v.text != "1")
    return v.error(fmt::format("{} is neither 0 nor 1; write 0 to turn NVLS off", quoted(v.text)));
  return Status::ok();
}

struct Override {
  const char* name;
  Status (*apply)(const Variable& variable, Policy& policy);
};
constexpr Override kOverrides[] = {
    {"PURLIN_REDUCTION", set_reduction},
    {"PURLIN_CROSSOVER", set_crossover},
    {"PURLIN_PATH", set_path},
    {"PURLIN_CHUNK", set_chunk},
    {"PURLIN_DATAPATH", set_datapath},
    {"PURLIN_CTA_BUDGET", set_cta_budget},
    {"PURLIN_CHECKING", [](const Variable& v, Policy& p) { return on_or_off(v, p.checking); }},
    {"PURLIN_TIMEOUT", [](const Variable& v, Policy& p) { return duration(v, p.wait_timeout); }},
    {"PURLIN_CREATE_TIMEOUT",
     [](const Variable& v, Policy& p) { return duration(v, p.create_timeout); }},
    {"PURLIN_NVLS_ENABLE", check_nvls},
};

// As the libraries that own these variables read them.
bool is_any_of(std::string text, std::initializer_list<const char*> words) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::find(words.begin(), words.end(), text) != words.end();
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    // Nothing for a process with raised privileges.
    const char* value = secure_getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

Status apply_environment(Policy& policy, const Environment& environment) {
  Policy changed = policy;
  bool any = false;
  for (const Override& entry : kOverrides) {
    const auto text = environment(entry.name);
    if (!text || text->empty()) continue;
    PURLIN_RETURN_IF_ERROR(entry.apply({entry.name, *text}, changed));
    any = true;
  }
  if (!any) return Status::ok();
  PURLIN_RETURN_IF_ERROR(check_file(changed));
  policy = std::move(changed);
  return Status::ok();
}

void apply_options(Policy& policy, const purlin_comm_options& options) {
  const auto api = [](const char* field) { return Origin{Source::kApi, field, 0, 0}; };
  if (options.cta_budget != 0)
    policy.cta_budget = {options.cta_budget, api("purlin_comm_options::cta_budget")};
  if (options.timeout_ms != 0)
    policy.wait_timeout = policy.create_timeout = {std::chrono::milliseconds(options.timeout_ms),
                                                   api("purlin_comm_options::timeout_ms")};
  if (options.checking >= 0)
    policy.checking = {options.checking != 0, api("purlin_comm_options::checking")};
}

std::optional<std::string> nvls_off_switch(const Environment& environment) {
  struct Switch {
    const char* name;
    bool off_when_true;
  };
  constexpr Switch kSwitches[] = {{"PURLIN_NVLS_ENABLE", false},
                                  {"NCCL_NVLS_ENABLE", false},
                                  {"TORCH_SYMM_MEM_DISABLE_MULTICAST", true},
                                  {"NVSHMEM_DISABLE_NVLS", true}};
  for (const Switch& entry : kSwitches) {
    const auto text = environment(entry.name);
    if (!text || text->empty()) continue;
    // NCCL_NVLS_ENABLE has other values; what a word of a …DISABLE… means is not guessed.
    const bool no = is_any_of(*text, {"0", "false", "no", "off", "n"});
    if (no != entry.off_when_true) return fmt::format("{}={}", entry.name, *text);
  }
  return std::nullopt;
}

}  // namespace purlin::policy
