#include "policy/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "policy/check.h"
#include "policy/decode_table.h"
#include "policy/decode_value.h"
#include "policy/limits.h"
#include "policy/nearest.h"

namespace purlin::policy {
namespace {

// "sm_90" as 90.
std::optional<uint32_t> architecture(std::string_view text) {
  if (text.substr(0, 3) != "sm_" || text.size() < 5 || text.size() > 6) return std::nullopt;
  uint32_t value = 0;
  const auto end = std::from_chars(text.data() + 3, text.data() + text.size(), value);
  if (end.ptr != text.data() + text.size() || value < 10) return std::nullopt;
  return value;
}

Status decode_architecture(const Place& place, const Node& node,
                           Setting<Match::Architectures>& range) {
  const std::string* text = nullptr;
  PURLIN_RETURN_IF_ERROR(decode_scalar(place, node, "an architecture", text));
  const size_t dots = text->find("..");
  const std::string first = text->substr(0, dots);
  const auto low = architecture(first);
  const auto high =
      dots == std::string::npos ? low : architecture(std::string_view(*text).substr(dots + 2));
  if (!low || !high) {
    std::string number;
    for (const char c : first)
      if (c >= '0' && c <= '9') number += c;
    const std::string guess = number.size() == 2 || number.size() == 3
                                  ? fmt::format("; did you mean \"sm_{}\"? ", number)
                                  : ". ";
    return place.error(node, fmt::format("{} is no architecture{}Write sm_90 or sm_80..sm_89",
                                         quoted(*text), guess));
  }
  if (*low > *high)
    return place.error(node, fmt::format("{} is reversed. Write the smaller number first: "
                                         "sm_{}..sm_{}",
                                         quoted(*text), *high, *low));
  range = {{*low, *high}, place.origin(node)};
  return Status::ok();
}

constexpr Field<Match> kMatchFields[] = {
    {"kind",
     [](const Place& p, const Node& n, Match& m) { return decode_word(p, n, m.kind.emplace()); }},
    {"architecture",
     [](const Place& p, const Node& n, Match& m) {
       PURLIN_RETURN_IF_ERROR(require_list(p, n));
       for (size_t i = 0; i < n.items.size(); ++i)
         PURLIN_RETURN_IF_ERROR(
             decode_architecture(p.item(i), n.items[i], m.architectures.emplace_back()));
       return Status::ok();
     }},
    {"name",
     [](const Place& p, const Node& n, Match& m) {
       m.name.emplace().origin = p.origin(n);
       return decode(p, n, m.name->value);
     }},
};

Status decode_match_map(const Place& place, const Node& node, Match& match) {
  PURLIN_RETURN_IF_ERROR(decode_map<Match>(place, node, kMatchFields, match));
  if (match.kind && match.kind->value == PURLIN_DEVICE_HOST && !match.architectures.empty())
    return place.error(node, "kind host has no architecture; remove one of the two");
  return Status::ok();
}

constexpr Field<Plugins> kPluginsFields[] = {
    {"path", [](const Place& p, const Node& n, Plugins& to) { return decode(p, n, to.path); }},
    {"enable", [](const Place& p, const Node& n, Plugins& to) { return decode(p, n, to.enable); }},
    {"disable",
     [](const Place& p, const Node& n, Plugins& to) { return decode(p, n, to.disable); }},
};

constexpr Field<Datapath> kDatapathFields[] = {
    {"prefer",
     [](const Place& p, const Node& n, Datapath& to) {
       PURLIN_RETURN_IF_ERROR(decode(p, n, to.prefer));
       if (to.prefer.empty())
         return p.error(n, "an empty list prefers nothing; write [auto], or remove the key");
       for (size_t i = 0; i + 1 < to.prefer.size(); ++i)
         if (to.prefer[i].value == "auto")
           return p.item(i).error(n.items[i],
                                  "auto stands before other words, which would never be tried; "
                                  "write it last");
       return Status::ok();
     }},
    {"deny", [](const Place& p, const Node& n, Datapath& to) { return decode(p, n, to.deny); }},
};

constexpr Field<Staging> kStagingFields[] = {
    {"latency_bytes",
     [](const Place& p, const Node& n, Staging& to) {
       return decode_size(p, n, kStagingBytes, to.latency_bytes);
     }},
    {"throughput_bytes",
     [](const Place& p, const Node& n, Staging& to) {
       return decode_size(p, n, kStagingBytes, to.throughput_bytes);
     }},
    {"pair_slots", [](const Place& p, const Node& n,
                      Staging& to) { return decode_count(p, n, kPairSlots, to.pair_slots); }},
    {"pair_bytes", [](const Place& p, const Node& n,
                      Staging& to) { return decode_size(p, n, kPairBytes, to.pair_bytes); }},
};

constexpr Field<Policy> kTimeoutFields[] = {
    {"wait",
     [](const Place& p, const Node& n, Policy& to) { return decode(p, n, to.wait_timeout); }},
    {"create",
     [](const Place& p, const Node& n, Policy& to) { return decode(p, n, to.create_timeout); }},
};

constexpr Field<HostWait> kHostFields[] = {
    {"spins", [](const Place& p, const Node& n,
                 HostWait& to) { return decode_count(p, n, kHostWait, to.spins); }},
    {"yields", [](const Place& p, const Node& n,
                  HostWait& to) { return decode_count(p, n, kHostWait, to.yields); }},
};

struct ProgramDraft {
  std::optional<Setting<ProgramKind>> kind;
  std::vector<purlin_dtype> dtypes;
  std::vector<purlin_op> ops;
  std::optional<RankRange> ranks;
};

constexpr Field<ProgramDraft> kProgramFields[] = {
    {"kind", [](const Place& p, const Node& n,
                ProgramDraft& to) { return decode_word(p, n, to.kind.emplace()); }},
    {"dtypes", [](const Place& p, const Node& n,
                  ProgramDraft& to) { return decode_word_list(p, n, to.dtypes); }},
    {"ops", [](const Place& p, const Node& n,
               ProgramDraft& to) { return decode_word_list(p, n, to.ops); }},
    {"ranks", [](const Place& p, const Node& n,
                 ProgramDraft& to) { return decode(p, n, to.ranks.emplace()); }},
};

Status decode_programs(const Place& place, const Node& node,
                       std::vector<ProgramRequest>& programs) {
  PURLIN_RETURN_IF_ERROR(require_list(place, node));
  programs.clear();
  for (size_t i = 0; i < node.items.size(); ++i) {
    const Node& item = node.items[i];
    const Place here = place.item(i);
    ProgramDraft draft;
    PURLIN_RETURN_IF_ERROR(decode_map<ProgramDraft>(here, item, kProgramFields, draft));
    if (!draft.kind)
      return here.error(item, "the program has no kind; add kind: copy, reduce or universal");
    const Origin origin = here.origin(item);
    if (const ProgramKind kind = draft.kind->value; kind != ProgramKind::kReduce) {
      if (!draft.dtypes.empty() || !draft.ops.empty())
        return here.error(item, kind == ProgramKind::kCopy
                                    ? "a copying program moves bytes; remove dtypes and ops"
                                    : "a universal program serves all types and operations; "
                                      "remove dtypes and ops");
      programs.push_back({kind, PURLIN_U8, PURLIN_SUM, draft.ranks, origin});
      continue;
    }
    if (draft.dtypes.empty())
      return here.error(item, "a reducing program needs dtypes; add dtypes: [bf16, f32]");
    if (draft.ops.empty()) draft.ops = {PURLIN_SUM};
    for (const purlin_dtype dtype : draft.dtypes)
      for (const purlin_op op : draft.ops)
        programs.push_back({ProgramKind::kReduce, dtype, op, draft.ranks, origin});
  }
  return Status::ok();
}

constexpr Field<Policy> kPolicyFields[] = {
    {"version", [](const Place&, const Node&, Policy&) { return Status::ok(); }},  // read first
    {"name",
     [](const Place& p, const Node& n, Policy& to) {
       PURLIN_RETURN_IF_ERROR(decode(p, n, to.name));
       if (to.name.size() <= kMostNameBytes) return Status::ok();
       return p.error(n, fmt::format("{} bytes, at most {} are allowed; shorten it", to.name.size(),
                                     kMostNameBytes));
     }},
    {"match",
     [](const Place& p, const Node& n, Policy& to) { return decode_match_map(p, n, to.match); }},
    {"plugins", [](const Place& p, const Node& n,
                   Policy& to) { return decode_map<Plugins>(p, n, kPluginsFields, to.plugins); }},
    {"datapath",
     [](const Place& p, const Node& n, Policy& to) {
       return decode_map<Datapath>(p, n, kDatapathFields, to.datapath);
     }},
    {"reduction", decode_reduction},
    {"crossover", decode_crossover},
    {"one_shot_limit", decode_one_shot_limit},
    {"tuning", decode_tuning},
    {"staging", [](const Place& p, const Node& n,
                   Policy& to) { return decode_map<Staging>(p, n, kStagingFields, to.staging); }},
    {"cta_budget", [](const Place& p, const Node& n,
                      Policy& to) { return decode_count(p, n, kCtas, to.cta_budget, true); }},
    {"packets",
     [](const Place& p, const Node& n, Policy& to) { return decode_word(p, n, to.packets); }},
    {"checking",
     [](const Place& p, const Node& n, Policy& to) { return decode(p, n, to.checking); }},
    {"timeouts", [](const Place& p, const Node& n,
                    Policy& to) { return decode_map<Policy>(p, n, kTimeoutFields, to); }},
    {"programs",
     [](const Place& p, const Node& n, Policy& to) { return decode_programs(p, n, to.programs); }},
    {"host", [](const Place& p, const Node& n,
                Policy& to) { return decode_map<HostWait>(p, n, kHostFields, to.host_wait); }},
};

std::vector<std::string> policy_keys() {
  std::vector<std::string> keys;
  for (const Field<Policy>& field : kPolicyFields) keys.emplace_back(field.key);
  return keys;
}

// A file of another version may mean other things by the same keys, so this comes first.
Status check_version(const Place& place, const Node& root) {
  PURLIN_RETURN_IF_ERROR(require_map(place, root, policy_keys()));
  for (const Entry& entry : root.entries) {
    if (entry.key.scalar != "version") continue;
    Setting<uint32_t> version;
    const Place here = place.below("version");
    PURLIN_RETURN_IF_ERROR(decode_count(here, entry.value, {0, 1u << 30, 1}, version));
    if (version.value == kVersion) return Status::ok();
    return here.error(entry.value, fmt::format("{} is not known here, only {}; write version: {}",
                                               version.value, kVersion, kVersion));
  }
  const Entry* first = root.entries.empty() ? nullptr : &root.entries.front();
  const std::string near = first != nullptr && nearest_word(first->key.scalar, {"version"})
                               ? fmt::format(", though {} is near it", quoted(first->key.scalar))
                               : "";
  return place.error(root, fmt::format("the policy does not say its version{}; write version: {}",
                                       near, kVersion));
}

}  // namespace

Status decode_policy(const Node& root, const std::string& file, Policy& policy) {
  const Place place{file, ""};
  PURLIN_RETURN_IF_ERROR(check_version(place, root));
  PURLIN_RETURN_IF_ERROR(decode_map<Policy>(place, root, kPolicyFields, policy));
  return check_file(policy);
}

Status decode_match(const Node& root, const std::string& file, Match& match) {
  const Place place{file, ""};
  PURLIN_RETURN_IF_ERROR(check_version(place, root));
  for (const Entry& entry : root.entries)
    if (entry.key.scalar == "match")
      PURLIN_RETURN_IF_ERROR(decode_match_map(place.below("match"), entry.value, match));
  return Status::ok();
}

}  // namespace purlin::policy
