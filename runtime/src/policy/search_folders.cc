#include "policy/search_folders.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace purlin::policy {
namespace {

namespace fs = std::filesystem;

// share/purlin/config beside the folder that holds the code of this function.
std::string install_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&install_folder), &info) == 0 ||
      info.dli_fname == nullptr)
    return "";
  std::error_code error;
  const fs::path self = fs::canonical(info.dli_fname, error);
  if (error) return "";
  return (self.parent_path().parent_path() / "share/purlin/config").string();
}

SearchFolder user_folder(const Environment& environment) {
  SearchFolder folder{"", "user's folder", ""};
  const auto config = environment("XDG_CONFIG_HOME");
  const auto home = environment("HOME");
  if (getauxval(AT_SECURE) != 0)
    folder.missing = "ignored, since the process runs with raised privileges";
  else if (config && !config->empty() && config->front() == '/')
    folder.path = *config + "/purlin";
  else if (home && !home->empty() && home->front() == '/')
    folder.path = *home + "/.config/purlin";
  else
    folder.missing = "neither XDG_CONFIG_HOME nor HOME is an absolute path";
  return folder;
}

}  // namespace

std::vector<SearchFolder> search_folders(const Environment& environment) {
  SearchFolder install{install_folder(), "install's folder", ""};
  if (install.path.empty()) install.missing = "the place of libpurlin is not known";
  return {user_folder(environment), {"/etc/purlin", "system's folder", ""}, install};
}

std::vector<std::string> policies_in(const std::string& folder, std::string& absent) {
  std::vector<std::string> files;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const std::string extension = entry->path().extension().string();
    if (name[0] != '.' && (extension == ".yaml" || extension == ".yml"))
      files.push_back(entry->path().string());
  }
  if (error) absent = error.message();
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace purlin::policy
