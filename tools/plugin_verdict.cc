#include "tools/plugin_verdict.h"

#include <fmt/format.h>

#include <filesystem>

#include "tools/ask.h"
#include "tools/json_text.h"

namespace purlin::tools {
namespace {

using nlohmann::json;

std::string quoted(const std::string& text) { return json(text).dump(); }

PluginVerdict read_verdict(const json& verdict) {
  PluginVerdict out;
  out.accepted = verdict.value("accepted", false);
  out.rule = text_at(verdict, "rule");
  out.reason = text_at(verdict, "reason");
  out.remedy = text_at(verdict, "remedy");
  return out;
}

}  // namespace

PluginVerdict PluginVerdict::fit() const { return read_verdict(fit_verdict); }

std::string policy_for_plugin(const std::string& path) {
  // The glob keeps every other plugin out of this process.
  return fmt::format("version: 1\nplugins: {{enable: [{}]}}\ndatapath: {{prefer: [{}]}}\n",
                     quoted(std::filesystem::path(path).filename().string()), quoted(path));
}

Outcome<PluginVerdict> judge_plugin(const std::string& path, const std::string& device) {
  const std::string policy = policy_for_plugin(path);
  purlin_query query{};
  query.struct_size = sizeof query;
  query.policy_text = policy.c_str();
  query.device = device.c_str();
  const auto answer = ask([&](char** text) { return purlin_plugins(&query, text); });
  if (!answer) return Error{answer.error()};
  const json& folders = list_or_object(*answer, "folders");
  const json files = folders.empty() ? json::array() : list_or_object(folders[0], "files");
  if (files.empty()) {
    const json& named = list_or_object(*answer, "named");
    if (named.empty()) return Error{"the library's answer does not mention " + path};
    return read_verdict(list_or_object(named[0], "verdict"));
  }
  PluginVerdict verdict = read_verdict(list_or_object(files[0], "verdict"));
  for (const json& candidate : list_or_object(*answer, "candidates")) {
    const json& atom = list_or_object(candidate, "atom");
    if (candidate.value("named", -1) != 0) continue;
    verdict.atom = atom;
    verdict.fit_verdict = list_or_object(candidate, "fit");
  }
  return verdict;
}

}  // namespace purlin::tools
