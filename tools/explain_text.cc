#include "tools/explain_text.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>

#include "tools/json_text.h"
#include "tools/names.h"
#include "tools/size_text.h"
#include "tools/text_flow.h"

namespace purlin::tools {
namespace {

using nlohmann::json;
using Rows = std::vector<std::vector<std::string>>;

// `text` with every mention of the file at `path` cut down to its name.
std::string by_name(std::string text, const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  if (name.empty() || name == path) return text;
  for (size_t at = 0; (at = text.find(path, at)) != std::string::npos; at += name.size())
    text.replace(at, path.size(), name);
  return text;
}

// The path of the policy that is used; empty for the built-in defaults.
std::string policy_path(const json& answer) {
  for (const json& place : list_or_object(list_or_object(answer, "policy"), "searched"))
    if (text_at(place, "verdict").starts_with("chosen")) return text_at(place, "path");
  return "";
}

void add_row(Rows& rows, const char* name, std::string value) {
  if (!value.empty()) rows.push_back({name, std::move(value)});
}

std::string heading(const json& answer) {
  std::string text = fmt::format("{} of {} on {} ranks", text_at(answer, "collective"),
                                 format_size(number_at(answer, "bytes")), text_at(answer, "ranks"));
  const std::string dtype = text_at(answer, "dtype"), op = text_at(answer, "op");
  if (!dtype.empty() && text_at(answer, "collective") != "barrier")
    text += fmt::format(", {}{}{}", dtype, op.empty() ? "" : " ", op);
  const std::string device = text_at(answer, "device");
  if (!device.empty()) text += fmt::format(", device {}", device);
  return flow("", text, 2) + "\n";
}

std::string what_runs(const json& answer) {
  Rows rows;
  const std::string path = text_at(answer, "path");
  const std::string why = by_name(text_at(answer, "path_reason"), policy_path(answer));
  add_row(rows, "path", why.empty() ? path : fmt::format("{}: {}", path, why));
  const json& atom = list_or_object(answer, "atom");
  if (!atom.empty()) {
    const std::string why_atom = text_at(atom, "why"), rule = text_at(atom, "rule");
    add_row(rows, "Atom",
            fmt::format("{} {}: {}{}", text_at(atom, "name"), text_at(atom, "version"), why_atom,
                        rule.empty() ? "" : fmt::format(" [{}]", rule)));
    add_row(rows, "", text_at(atom, "path"));
  }
  const auto collective = parse_collective(text_at(answer, "collective"));
  if (!collective || reduces(*collective)) add_row(rows, "reduction", text_at(answer, "reduction"));
  add_row(rows, "program", text_at(answer, "program"));
  const json& nvls = list_or_object(answer, "nvls");
  const bool allowed = nvls.empty() || nvls.value("allowed", false);
  const bool used = !nvls.empty() && nvls.value("used", false);
  if (!nvls.empty() && (!allowed || used || text_at(answer, "device") != "host"))
    add_row(rows, "NVLS",
            fmt::format("{}: {}", !allowed ? "off" : used ? "used" : "not used",
                        text_at(nvls, "decided_by")));
  return rows.empty() ? "" : "What will run\n" + columns(rows, 2) + "\n";
}

std::string step_text(const json& step) {
  std::string text = text_at(step, "text");
  const std::string from = text_at(step, "from"), to = text_at(step, "to");
  const uint64_t bytes = number_at(step, "bytes");
  if (!from.empty() && !to.empty()) text += fmt::format(" ({} to {})", from, to);
  if (bytes > 0) text += fmt::format(" [{}]", format_size(bytes));
  return text;
}

std::string steps(const json& plan) {
  Rows rows;
  for (const json& step : list_or_object(plan, "steps"))
    rows.push_back({fmt::format("{}.", rows.size() + 1), text_at(step, "name"), step_text(step)});
  return rows.empty() ? "" : "How every rank does it\n" + columns(rows, 2) + "\n";
}

// "128KiB to each of 7 ranks", or each transfer by itself when they differ.
std::string transfers(const std::vector<const json*>& list, const char* peer, const char* word) {
  std::set<uint64_t> sizes;
  for (const json* one : list) sizes.insert(number_at(*one, "bytes"));
  if (sizes.size() == 1 && list.size() > 1)
    return fmt::format("{} {} each of {} ranks", format_size(*sizes.begin()), word, list.size());
  std::string text;
  for (const json* one : list)
    text += fmt::format("{}{} {} rank {}", text.empty() ? "" : ", ",
                        format_size(number_at(*one, "bytes")), word, text_at(*one, peer));
  return text;
}

// The same for each step of the plan that has transfers.
std::string transfers_by_step(const json& list, const char* peer, const char* word) {
  std::map<uint64_t, std::vector<const json*>> steps;
  for (const json& one : list) steps[number_at(one, "step")].push_back(&one);
  std::string text;
  for (const auto& [step, some] : steps)
    text += fmt::format("{}{}", text.empty() ? "" : ", then ", transfers(some, peer, word));
  return text.empty() ? "nothing" : text;
}

// Ranks that move the same are told of together.
std::string per_rank(const json& plan) {
  struct Kind {
    std::string sent, received;
    std::vector<std::string> ranks;
  };
  std::vector<Kind> kinds;
  for (const json& rank : list_or_object(plan, "per_rank")) {
    const std::string sent = transfers_by_step(list_or_object(rank, "sends"), "to", "to");
    const std::string received =
        transfers_by_step(list_or_object(rank, "receives"), "from", "from");
    if (kinds.empty() || kinds.back().sent != sent || kinds.back().received != received)
      kinds.push_back({sent, received, {}});
    kinds.back().ranks.push_back(text_at(rank, "rank"));
  }
  Rows rows;
  for (const Kind& kind : kinds) {
    if (kind.ranks.size() == 1)
      rows.push_back({"rank " + kind.ranks.front(),
                      fmt::format("sends {}; receives {}", kind.sent, kind.received)});
    else
      rows.push_back({fmt::format("ranks {} to {}", kind.ranks.front(), kind.ranks.back()),
                      fmt::format("send {}; receive {}", kind.sent, kind.received)});
  }
  return rows.empty() ? "" : "Who moves what\n" + columns(rows, 2) + "\n";
}

// Settings that are sizes are shown as such.
std::string value_text(const json& setting) {
  const std::string name = text_at(setting, "name"), value = text_at(setting, "value");
  if (name != "chunk" && !name.ends_with("_bytes")) return value;
  const auto bytes = parse_size(value);
  return bytes && *bytes > 0 ? format_size(*bytes) : value;
}

std::string settings(const json& answer) {
  Rows rows;
  for (const json& setting : list_or_object(answer, "settings"))
    rows.push_back({text_at(setting, "name"), value_text(setting),
                    by_name(text_at(setting, "origin"), policy_path(answer))});
  return rows.empty()
             ? ""
             : "What decided (setting, value, where it was said)\n" + columns(rows, 2) + "\n";
}

std::string policy(const json& answer) {
  const json& policy = list_or_object(answer, "policy");
  const std::string name = text_at(policy, "file"), path = policy_path(answer);
  if (policy.empty()) return "";
  std::string text =
      flow("Policy: ",
           name.empty()                   ? "built-in defaults"
           : path.empty() || name == path ? name
                                          : fmt::format("{}, which is {}", name, path),
           2);
  for (const json& place : list_or_object(policy, "searched")) {
    const std::string where = text_at(place, "path"), reason = text_at(place, "reason");
    text +=
        flow("  ", where, 2) + flow("    ",
                                    fmt::format("{}{}{}", text_at(place, "verdict"),
                                                reason.empty() ? "" : ": ", by_name(reason, where)),
                                    6);
  }
  return text + "\n";
}

std::string list_of(const json& answer, const char* key, const char* title) {
  std::string text;
  for (const json& line : list_or_object(answer, key))
    text += flow("  - ", line.is_string() ? line.get<std::string>() : line.dump(), 4);
  return text.empty() ? "" : fmt::format("{}\n{}\n", title, text);
}

}  // namespace

std::string explain_text(const json& answer) {
  const json& plan = list_or_object(answer, "plan");
  std::string text = heading(answer) + what_runs(answer) + steps(plan) + per_rank(plan) +
                     settings(answer) + policy(answer) + list_of(answer, "checks", "Checked") +
                     list_of(answer, "notes", "Notes");
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace purlin::tools
