#include "plugin/finder.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <system_error>
#include <utility>

#include "plugin/trust.h"

#ifndef PURLIN_INSTALL_PLUGIN_FOLDER
#define PURLIN_INSTALL_PLUGIN_FOLDER "/usr/local/lib/purlin/plugins"
#endif

namespace purlin::plugin {
namespace {

namespace fs = std::filesystem;

// A symbol of our own, to learn which file holds this code.
const char kAnchor = 0;

// The folder that belongs to the file holding this code: purlin/plugins beside libpurlin. A program
// that holds the library inside it and lies in a bin folder uses lib/purlin/plugins beside that.
fs::path beside_folder() {
  Dl_info info{};
  std::error_code failed;
  fs::path self;
  if (dladdr(&kAnchor, &info) != 0 && info.dli_fname != nullptr) {
    self = fs::canonical(info.dli_fname, failed);
  }
  // For the main program the loader knows only the words it was started with.
  if (self.empty() || failed) self = fs::canonical("/proc/self/exe", failed);
  if (failed) return {};
  const fs::path folder = self.parent_path();
  const fs::path root = folder.filename() == "bin" ? folder.parent_path() / "lib" : folder;
  return root / "purlin" / "plugins";
}

void add(std::vector<FoundFolder>* folders, FolderOrigin origin, std::string where,
         fs::path asked) {
  FoundFolder folder;
  folder.origin = origin;
  folder.where = std::move(where);
  folder.asked = std::move(asked);
  folders->push_back(std::move(folder));
}

void add_environment(std::vector<FoundFolder>* folders) {
  const char* text = std::getenv("PURLIN_PLUGIN_PATH");
  if (text == nullptr) return;
  for (const char* begin = text;;) {
    const char* end = std::strchr(begin, ':');
    const std::string part = end == nullptr ? std::string(begin) : std::string(begin, end);
    // An empty part would mean the working folder: never searched unless it is written out.
    if (!part.empty()) {
      add(folders, FolderOrigin::kEnvironment, "PURLIN_PLUGIN_PATH", absolute_from({}, part));
    }
    if (end == nullptr) return;
    begin = end + 1;
  }
}

// True for folders that a person asked for, where absence is worth a word of advice.
bool asked_by_hand(FolderOrigin origin) {
  return origin == FolderOrigin::kPolicy || origin == FolderOrigin::kEnvironment;
}

Verdict list_folder(const fs::path& resolved, const fs::path& asked,
                    std::vector<fs::path>* entries) {
  std::error_code failed;
  for (fs::directory_iterator at(resolved, failed), end; !failed && at != end;
       at.increment(failed)) {
    entries->push_back(asked / at->path().filename());
  }
  if (failed) {
    entries->clear();
    return refuse("folder-unreadable",
                  fmt::format("listing {}: {}", asked.string(), failed.message()),
                  "let this user read the folder");
  }
  std::sort(entries->begin(), entries->end());
  return accept("folder-searched", fmt::format("{} entries", entries->size()));
}

Verdict judge_folder(FoundFolder* folder, bool privileged,
                     std::set<std::pair<dev_t, ino_t>>* seen) {
  if (privileged && asked_by_hand(folder->origin)) {
    return refuse("privileged",
                  "ignored: this process runs with privileges that its user does not have",
                  "install the plugin into the folder beside libpurlin");
  }
  struct stat status {};
  if (stat(folder->asked.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return refuse("folder-missing", fmt::format("{} does not exist", folder->asked.string()),
                    asked_by_hand(folder->origin)
                        ? fmt::format("create it, or take it out of {}", folder->where)
                        : "nothing, unless plugins should lie there");
    }
    return refuse("folder-unreadable",
                  fmt::format("stat {}: {}", folder->asked.string(), std::strerror(errno)),
                  "let this user search the folder");
  }
  if (!S_ISDIR(status.st_mode)) {
    return refuse("folder-not-a-folder", fmt::format("{} is not a folder", folder->asked.string()),
                  "give the folder that holds the plugin; a single file is named by its path in "
                  "datapath.prefer");
  }
  std::error_code failed;
  folder->resolved = fs::canonical(folder->asked, failed);
  if (failed) {
    return refuse("folder-unreadable",
                  fmt::format("resolving {}: {}", folder->asked.string(), failed.message()),
                  "let this user search the folder");
  }
  if (!seen->emplace(status.st_dev, status.st_ino).second) {
    return refuse("folder-duplicate", "the same folder was searched above", "nothing");
  }
  if (Verdict verdict = judge_trust(status, folder->resolved, privileged); !verdict.accepted) {
    return verdict;
  }
  if (Verdict verdict = judge_parents(folder->resolved, privileged); !verdict.accepted) {
    return verdict;
  }
  return list_folder(folder->resolved, folder->asked, &folder->entries);
}

}  // namespace

const char* folder_origin_name(FolderOrigin origin) {
  switch (origin) {
    case FolderOrigin::kNamed:
      return "named";
    case FolderOrigin::kPolicy:
      return "policy";
    case FolderOrigin::kEnvironment:
      return "environment";
    case FolderOrigin::kBeside:
      return "beside the library";
    case FolderOrigin::kInstall:
      return "install";
    case FolderOrigin::kGiven:
      return "given";
  }
  return "unknown";
}

bool privileged_process() { return getauxval(AT_SECURE) != 0; }

fs::path absolute_from(const fs::path& base, const std::string& text) {
  fs::path path(text);
  if (path.is_relative()) {
    std::error_code failed;
    const fs::path root = base.empty() ? fs::current_path(failed) : fs::absolute(base, failed);
    // With no working folder left there is nothing to be relative to; the path stays and is
    // missing.
    if (!failed) path = root / path;
  }
  // Only "." goes: ".." after a link leads elsewhere than its text says.
  fs::path clean;
  for (const fs::path& part : path) {
    if (part != ".") clean /= part;
  }
  return clean;
}

std::vector<FoundFolder> find_folders(const Selection& selection) {
  const bool privileged = selection.secure.value_or(privileged_process());
  std::vector<FoundFolder> folders;
  for (const Stated& folder : selection.folders) {
    add(&folders, FolderOrigin::kPolicy, folder.where.empty() ? "the policy" : folder.where,
        absolute_from(selection.base, folder.text));
  }
  if (selection.default_folders) {
    for (const fs::path& folder : *selection.default_folders) {
      add(&folders, FolderOrigin::kGiven, "the caller", absolute_from({}, folder.string()));
    }
  } else {
    add_environment(&folders);
    if (fs::path beside = beside_folder(); !beside.empty()) {
      add(&folders, FolderOrigin::kBeside, "beside libpurlin", std::move(beside));
    }
    add(&folders, FolderOrigin::kInstall, "the install folder", PURLIN_INSTALL_PLUGIN_FOLDER);
  }
  std::set<std::pair<dev_t, ino_t>> seen;
  for (FoundFolder& folder : folders) folder.verdict = judge_folder(&folder, privileged, &seen);
  return folders;
}

}  // namespace purlin::plugin
