#include "plugin/choice.h"

#include <fmt/format.h>

#include "plugin/fit.h"
#include "plugin/order.h"
#include "plugin/preference.h"
#include "plugin/report.h"

namespace purlin::plugin {
namespace {

// Files that are no plugins, or that the user has put aside: no reason to remember them.
bool is_expected(const Verdict& verdict) {
  return verdict.rule == "file-name" || verdict.rule == "disabled" ||
         verdict.rule == "not-enabled" || verdict.rule == "same-file";
}

std::string words(const Selection& selection) {
  std::string text;
  for (const Stated& word : selection.prefer) {
    text += fmt::format("{}\"{}\"{}", text.empty() ? "" : ", ", word.text,
                        word.where.empty() ? "" : fmt::format(" ({})", word.where));
  }
  return text;
}

Status nothing_serves(const Catalogue& catalogue, const std::vector<Passed>& passed) {
  const Selection& selection = catalogue.selection;
  const bool automatic = wish_index(-1, selection) >= 0;
  std::string text =
      automatic ? fmt::format("no Atom can serve device \"{}\"", catalogue.device_name)
                : fmt::format("the policy names {}, and none of them can serve device \"{}\"",
                              words(selection), catalogue.device_name);
  for (const NamedWord& named : catalogue.named) {
    if (named.verdict.accepted) continue;
    text += fmt::format("\n  \"{}\": {} [{}]; {}", named.word.text, named.verdict.reason,
                        named.verdict.rule, named.verdict.remedy);
  }
  for (const Passed& one : passed) {
    if (one.name.empty()) continue;  // a refused file: the trace below has it
    text += fmt::format("\n  {} ({}): {} [{}]; {}", one.name, one.path.string(), one.verdict.reason,
                        one.verdict.rule, one.verdict.remedy);
  }
  return Status(PURLIN_PLUGIN_ERROR, text + "\nsearched:\n" + catalogue_trace(catalogue));
}

BoundAtom bind(const Catalogue& catalogue, const Need& need, std::size_t index) {
  const Candidate& winner = catalogue.candidates[index];
  BoundAtom bound;
  bound.descriptor = winner.plugin->descriptor;
  bound.path = winner.plugin->path;
  bound.plugin = winner.plugin;
  bound.rule = "only-one";
  bound.reason = "no other Atom can serve";
  for (std::size_t i = index + 1; i < catalogue.candidates.size(); ++i) {
    const Candidate& next = catalogue.candidates[i];
    if (!next.fit.accepted || !judge_need(*next.plugin, need).accepted) continue;
    bound.rule = compare(winner, next, catalogue.selection).rule;
    bound.reason = explain_precedence(winner, next, bound.rule);
    break;
  }
  return bound;
}

}  // namespace

Need every_collective(int nranks) {
  Need need;
  need.capabilities |= PURLIN_CAP_REDUCE;
  need.sources = static_cast<uint32_t>(nranks);
  return need;
}

Result<BoundAtom> choose(const Catalogue& catalogue, const Need& need) {
  std::vector<Passed> passed;
  for (const CatalogueFolder& folder : catalogue.folders) {
    for (const Judged& judged : folder.files) {
      if (judged.verdict.accepted || is_expected(judged.verdict)) continue;
      passed.push_back({judged.path, {}, judged.verdict});
    }
  }
  std::size_t chosen = catalogue.candidates.size();
  for (std::size_t i = 0; i < catalogue.candidates.size(); ++i) {
    const Candidate& candidate = catalogue.candidates[i];
    Verdict verdict = candidate.fit;
    if (verdict.accepted) {
      if (chosen != catalogue.candidates.size()) continue;  // the order decided against it
      verdict = judge_need(*candidate.plugin, need);
      if (verdict.accepted && wish_index(candidate.named, catalogue.selection) < 0) {
        verdict = refuse("not-named", "the policy names other Atoms, without \"auto\"",
                         "add it, or \"auto\", to datapath.prefer");
      }
      if (verdict.accepted) chosen = i;
    }
    if (!verdict.accepted) {
      passed.push_back({candidate.plugin->path, candidate.plugin->descriptor->name, verdict});
    }
  }
  if (chosen == catalogue.candidates.size()) return nothing_serves(catalogue, passed);
  BoundAtom bound = bind(catalogue, need, chosen);
  bound.passed = std::move(passed);
  return bound;
}

}  // namespace purlin::plugin
