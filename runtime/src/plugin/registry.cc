#include "plugin/registry.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "plugin/fit.h"
#include "plugin/order.h"
#include "plugin/preference.h"
#include "policy/nearest.h"

namespace purlin::plugin {
namespace {

// The files that the policy names by path, as a folder of their own before all others.
CatalogueFolder named_files(const Selection& selection, bool privileged) {
  CatalogueFolder folder;
  folder.found.origin = FolderOrigin::kNamed;
  folder.found.where = "the policy";
  for (const Stated& word : selection.prefer) {
    if (is_path_word(word.text)) {
      folder.found.entries.push_back(absolute_from(selection.base, word.text));
    }
  }
  folder.found.verdict =
      privileged ? refuse("privileged",
                          "ignored: this process runs with privileges that its user does not have",
                          "install the plugin into the folder beside libpurlin")
                 : accept("folder-searched", "files that the policy names by path");
  if (privileged) folder.found.entries.clear();
  return folder;
}

// Refuses a plugin that was met before under another path.
void refuse_repeated(Judged* judged, std::map<const Plugin*, std::filesystem::path>* seen) {
  if (judged->plugin == nullptr) return;
  const auto [first, fresh] = seen->emplace(judged->plugin.get(), judged->path);
  if (fresh) return;
  judged->verdict = refuse("same-file", fmt::format("it is {} again", first->second.string()),
                           "nothing; it is used once");
  judged->plugin = nullptr;
}

void order_candidates(Catalogue* catalogue) {
  const Selection& selection = catalogue->selection;
  std::sort(catalogue->candidates.begin(), catalogue->candidates.end(),
            [&](const Candidate& left, const Candidate& right) {
              if (left.fit.accepted != right.fit.accepted) return left.fit.accepted;
              return compare(left, right, selection).left_first;
            });
  for (Candidate& loser : catalogue->candidates) {
    const Candidate& winner = catalogue->candidates.front();
    if (&loser == &winner || !loser.fit.accepted) continue;
    const std::string_view rule = compare(winner, loser, selection).rule;
    loser.beaten_by = rule;
    loser.beaten_reason = explain_precedence(winner, loser, rule);
  }
}

const Verdict& fit_of(const Plugin& plugin, const Catalogue& catalogue) {
  const auto found =
      std::find_if(catalogue.candidates.begin(), catalogue.candidates.end(),
                   [&](const Candidate& candidate) { return candidate.plugin.get() == &plugin; });
  return found->fit;
}

// `verdict` with the file's path before its reason, unless it stands there.
Verdict told_of(const std::string& path, const Verdict& verdict) {
  const bool there = verdict.reason.starts_with(path);
  return refuse(verdict.rule, there ? verdict.reason : fmt::format("{}: {}", path, verdict.reason),
                verdict.remedy);
}

NamedWord find_named(const Stated& word, const Catalogue& catalogue) {
  if (Verdict verdict = judge_word(word); !verdict.accepted) return {word, std::move(verdict)};
  std::vector<std::string> names, near;
  Verdict refused;
  for (const CatalogueFolder& folder : catalogue.folders) {
    if (folder.found.origin == FolderOrigin::kNamed && !folder.found.verdict.accepted &&
        is_path_word(word.text)) {
      return {word, folder.found.verdict};
    }
    for (const Judged& judged : folder.files) {
      near.push_back(judged.path.filename().string());
      const bool answers = answers_to(judged, word, catalogue.selection);
      if (judged.plugin != nullptr) names.emplace_back(judged.plugin->descriptor->name);
      if (!answers || judged.verdict.rule == "same-file") continue;
      const Verdict& verdict =
          judged.plugin != nullptr ? fit_of(*judged.plugin, catalogue) : judged.verdict;
      if (verdict.accepted) return {word, accept("accepted")};
      if (refused.rule.empty()) refused = told_of(judged.path.string(), verdict);
    }
  }
  if (!refused.rule.empty()) return {word, std::move(refused)};
  near.insert(near.begin(), names.begin(), names.end());
  return {word,
          refuse("name-unknown",
                 fmt::format("no plugin answers to {} (found: {}){}", policy::quoted(word.text),
                             names.empty() ? "none" : policy::comma_list(names),
                             policy::did_you_mean(word.text, near)),
                 "install the plugin into one of the folders, or correct the name")};
}

}  // namespace

Catalogue discover(const Selection& selection, const purlin_device_facts& facts) {
  Catalogue catalogue;
  catalogue.facts = facts;
  catalogue.facts.name = nullptr;
  catalogue.device_name = facts.name != nullptr ? facts.name : "";
  catalogue.selection = selection;

  CatalogueFolder named = named_files(selection, selection.secure.value_or(privileged_process()));
  if (!named.found.entries.empty() || !named.found.verdict.accepted) {
    catalogue.folders.push_back(std::move(named));
  }
  for (FoundFolder& found : find_folders(selection)) {
    catalogue.folders.push_back({std::move(found), {}});
  }
  std::map<const Plugin*, std::filesystem::path> seen;
  for (CatalogueFolder& folder : catalogue.folders) {
    for (const std::filesystem::path& entry : folder.found.entries) {
      Judged judged = judge_file(entry, selection);
      refuse_repeated(&judged, &seen);
      if (judged.plugin != nullptr) {
        Candidate candidate;
        candidate.plugin = judged.plugin;
        candidate.fit = judge_fit(*judged.plugin, facts, selection.deny);
        candidate.named = named_index(judged, selection);
        candidate.search_index = catalogue.candidates.size();
        catalogue.candidates.push_back(std::move(candidate));
      }
      folder.files.push_back(std::move(judged));
    }
  }
  order_candidates(&catalogue);
  for (const Stated& word : selection.prefer) {
    if (word.text != kAuto) catalogue.named.push_back(find_named(word, catalogue));
  }
  return catalogue;
}

purlin_device_facts host_device_facts() {
  purlin_device_facts facts{};
  facts.struct_size = sizeof(facts);
  facts.kind = PURLIN_ATOM_HOST;
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  facts.multiprocessors = processors > 0 ? static_cast<uint32_t>(processors) : 1;
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGE_SIZE);
  if (pages > 0 && page_bytes > 0) {
    facts.memory_bytes = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes);
  }
  facts.name = "host";
  return facts;
}

}  // namespace purlin::plugin
