// Which folders are searched, in which order, and what lies in them. Reads folders, opens no
// plugin.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plugin/selection.h"
#include "plugin/verdict.h"

namespace purlin::plugin {

enum class FolderOrigin {
  kNamed,        // not a folder: files that the policy names by path
  kPolicy,       // plugins.path of the policy
  kEnvironment,  // PURLIN_PLUGIN_PATH, split at colons
  kBeside,       // purlin/plugins beside libpurlin
  kInstall,      // the folder fixed when the library was configured
  kGiven         // Selection::default_folders
};
const char* folder_origin_name(FolderOrigin origin);

struct FoundFolder {
  FolderOrigin origin = FolderOrigin::kPolicy;
  std::string where;                           // the place that asked for it
  std::filesystem::path asked;                 // absolute, as written
  std::filesystem::path resolved;              // links resolved; empty when it does not exist
  Verdict verdict;                             // accepted: it was searched
  std::vector<std::filesystem::path> entries;  // absolute, sorted by name; empty unless accepted
};

// The folders in search order, each judged and, if accepted, listed. Never fails: a folder that
// cannot be searched carries a refusing verdict. Thread-safe.
std::vector<FoundFolder> find_folders(const Selection& selection);

// True when the process runs with privileges its user does not have, so that folders which the user
// can choose must be ignored.
bool privileged_process();

// Absolute form of `text`, which may be relative to `base` (working folder if empty). Not resolved.
std::filesystem::path absolute_from(const std::filesystem::path& base, const std::string& text);

}  // namespace purlin::plugin
