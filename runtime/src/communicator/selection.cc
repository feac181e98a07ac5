#include "communicator/selection.h"

#include <filesystem>

namespace purlin {
namespace {

std::vector<plugin::Stated> stated(const policy::Words& words) {
  std::vector<plugin::Stated> result;
  for (const auto& word : words) result.push_back({word.value, word.origin.text()});
  return result;
}

}  // namespace

plugin::Selection plugin_selection(const policy::Policy& policy) {
  plugin::Selection selection;
  selection.folders = stated(policy.plugins.path);
  selection.enable = stated(policy.plugins.enable);
  selection.disable = stated(policy.plugins.disable);
  selection.prefer = stated(policy.datapath.prefer);
  selection.deny = stated(policy.datapath.deny);
  for (const policy::Words* words : {&policy.plugins.path, &policy.datapath.prefer})
    for (const auto& word : *words)
      if (word.origin.source == policy::Source::kFile)
        selection.base = std::filesystem::path(word.origin.where).parent_path();
  return selection;
}

}  // namespace purlin
