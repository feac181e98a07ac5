#include "plugin/from_policy.h"

#include <filesystem>
#include <string>

#include "plugin/finder.h"
#include "plugin/preference.h"

namespace purlin::plugin {
namespace {

std::vector<Stated> stated(const policy::Words& words) {
  std::vector<Stated> out;
  for (const auto& word : words) out.push_back({word.value, word.origin.text()});
  return out;
}

// The path of a word, absolute: words of one list may come from several places.
std::string path_of(const policy::Setting<std::string>& word) {
  const bool from_file =
      word.origin.source == policy::Source::kFile && word.origin.where != "<text>";
  const std::filesystem::path base =
      from_file ? absolute_from({}, word.origin.where).parent_path() : std::filesystem::path();
  return absolute_from(base, word.value).string();
}

}  // namespace

Selection selection_from(const policy::Policy& policy) {
  Selection selection;
  selection.enable = stated(policy.plugins.enable);
  selection.disable = stated(policy.plugins.disable);
  selection.deny = stated(policy.datapath.deny);
  for (const auto& folder : policy.plugins.path) {
    selection.folders.push_back({path_of(folder), folder.origin.text()});
  }
  for (const auto& word : policy.datapath.prefer) {
    selection.prefer.push_back(
        {is_path_word(word.value) ? path_of(word) : word.value, word.origin.text()});
  }
  return selection;
}

}  // namespace purlin::plugin
