#include "tools/plugins_text.h"

#include <fmt/format.h>

#include <filesystem>

#include "tools/json_text.h"
#include "tools/text_flow.h"

namespace purlin::tools {
namespace {

using nlohmann::json;

// "reason [rule]", then what to do about it.
std::string verdict_text(const json& verdict) {
  const std::string reason = text_at(verdict, "reason"), remedy = text_at(verdict, "remedy");
  std::string text = reason.empty() ? "" : reason + " ";
  text += fmt::format("[{}]", text_at(verdict, "rule"));
  if (!remedy.empty()) text += "\nWhat to do: " + remedy;
  return text;
}

bool accepted(const json& verdict) { return verdict.value("accepted", false); }

std::string origin_text(const json& folder) {
  const std::string origin = text_at(folder, "origin"), where = text_at(folder, "where");
  // Only what a person wrote somewhere has a place that says more than the origin.
  const bool said = origin == "policy" || origin == "environment" || origin == "named";
  return where.empty() || !said ? origin : fmt::format("{}, {}", origin, where);
}

std::string atom_title(const json& atom) {
  return fmt::format("{} {}", text_at(atom, "name"), text_at(atom, "version"));
}

std::string chosen_part(const json& answer) {
  const json& chosen = list_or_object(answer, "chosen");
  if (chosen.empty()) {
    // Its further lines are what the parts below say.
    const std::string error = text_at(answer, "choice_error");
    return flow("Chosen Atom: none. ", error.substr(0, error.find('\n')), 2) + "\n";
  }
  std::string text = flow("Chosen Atom: ",
                          fmt::format("{}. {} [{}]", text_at(chosen, "name"),
                                      text_at(chosen, "reason"), text_at(chosen, "rule")),
                          2);
  return text + "  " + text_at(chosen, "path") + "\n\n";
}

std::string candidates_part(const json& answer) {
  std::string fit, unfit;
  int place = 0;
  for (const json& candidate : list_or_object(answer, "candidates")) {
    const json& atom = list_or_object(candidate, "atom");
    const json& verdict = list_or_object(candidate, "fit");
    if (!accepted(verdict)) {
      unfit += flow(fmt::format("  {}: ", atom_title(atom)), verdict_text(verdict), 6);
      continue;
    }
    fit += flow(fmt::format("  {}. {}: ", ++place, atom_title(atom)),
                fmt::format("{} ({})", text_at(atom, "description"), text_at(atom, "vendor")), 5);
    const std::string beaten = text_at(candidate, "beaten_reason");
    if (!beaten.empty())
      fit += flow("     after the one above: ",
                  fmt::format("{} [{}]", beaten, text_at(candidate, "beaten_by")), 5);
  }
  std::string text;
  const bool none = list_or_object(answer, "chosen").empty();
  if (!fit.empty() && none) {
    text += "Atoms that fit this device, but do not serve:\n" + fit;
    if (!list_or_object(answer, "named").empty())
      text +=
          flow("  What to do: ", "add one of them, or auto, to datapath.prefer of the policy", 4);
    text += "\n";
  } else if (!fit.empty()) {
    text += "Atoms that can serve this device, best first:\n" + fit + "\n";
  }
  if (!unfit.empty()) text += "Atoms that cannot:\n" + unfit + "\n";
  return text;
}

std::string named_part(const json& answer) {
  std::string text;
  for (const json& named : list_or_object(answer, "named"))
    text += flow(fmt::format("  \"{}\" ({}): ", text_at(named, "word"), text_at(named, "where")),
                 verdict_text(list_or_object(named, "verdict")), 6);
  return text.empty() ? "" : "What the policy names:\n" + text + "\n";
}

std::string file_line(const json& file) {
  const json& verdict = list_or_object(file, "verdict");
  const std::string name = std::filesystem::path(text_at(file, "path")).filename().string();
  if (!accepted(verdict)) return flow(fmt::format("     - {}: ", name), verdict_text(verdict), 8);
  return flow(fmt::format("     + {}: ", name), fmt::format("Atom {}", text_at(file, "atom")), 8);
}

std::string folders_part(const json& answer) {
  std::string text;
  int place = 0;
  for (const json& folder : list_or_object(answer, "folders")) {
    const json& verdict = list_or_object(folder, "verdict");
    const std::string path = text_at(folder, "path");
    text += fmt::format("  {}. {}\n", ++place, path.empty() ? "files named by path" : path);
    const bool searched = accepted(verdict);
    const json& files = list_or_object(folder, "files");
    const char* state = !searched ? "not searched" : files.empty() ? "searched, empty" : "searched";
    text += flow("     ",
                 fmt::format("({}) {}{}", origin_text(folder), state,
                             searched ? "" : ": " + verdict_text(verdict)),
                 5);
    for (const json& file : files) text += file_line(file);
  }
  if (text.empty()) return "";
  return "Where plugins were sought, in order (+ usable, - refused):\n" + text;
}

std::string nvls_part(const json& answer) {
  const json& nvls = list_or_object(answer, "nvls");
  const bool host = text_at(list_or_object(answer, "device"), "kind") == "host";
  const bool allowed = !nvls.empty() && nvls.value("allowed", false);
  const bool used = !nvls.empty() && nvls.value("used", false);
  if (nvls.empty() || (host && allowed && !used)) return "";
  const std::string by = text_at(nvls, "decided_by");
  return "\n" + flow("Reduction in the switch (NVLS): ",
                     !allowed ? fmt::format("off, decided by {}", by)
                     : used   ? fmt::format("used, decided by {}", by)
                              : fmt::format("not used: {}", by),
                     2);
}

}  // namespace

std::string plugins_text(const json& answer) {
  const json& device = list_or_object(answer, "device");
  std::string text;
  if (!device.empty()) text += flow("Plugins for device ", text_at(device, "name"), 2) + "\n";
  return text + chosen_part(answer) + candidates_part(answer) + named_part(answer) +
         folders_part(answer) + nvls_part(answer);
}

}  // namespace purlin::tools
