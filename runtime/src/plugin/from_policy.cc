#include "plugin/from_policy.h"

#include <filesystem>
#include <string>

#include "plugin/finder.h"
#include "plugin/preference.h"

namespace purlin::plugin {
namespace {

using Words = policy::Setting<std::vector<std::string>>;

std::vector<Stated> stated(const Words& words) {
  std::vector<Stated> out;
  for (const std::string& word : words.value) out.push_back({word, words.origin.text()});
  return out;
}

// The folder that relative paths of this setting start at.
std::filesystem::path base_of(const policy::Origin& origin) {
  if (origin.source != policy::Source::kFile || origin.where == "<text>") return {};
  return absolute_from({}, origin.where).parent_path();
}

}  // namespace

Selection selection_from(const policy::Policy& policy) {
  Selection selection;
  selection.enable = stated(policy.plugins.enable);
  selection.disable = stated(policy.plugins.disable);
  selection.deny = stated(policy.datapath.deny);
  // Two settings may come from two places: each one's paths are made absolute from its own.
  for (Stated& folder : selection.folders = stated(policy.plugins.path)) {
    folder.text = absolute_from(base_of(policy.plugins.path.origin), folder.text).string();
  }
  for (Stated& word : selection.prefer = stated(policy.datapath.prefer)) {
    if (is_path_word(word.text)) {
      word.text = absolute_from(base_of(policy.datapath.prefer.origin), word.text).string();
    }
  }
  return selection;
}

}  // namespace purlin::plugin
