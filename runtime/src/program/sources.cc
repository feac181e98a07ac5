#include "program/sources.h"

#include <stdlib.h>

#include <algorithm>
#include <string_view>

namespace purlin {
namespace {

// Empty if unset, relative or not to be trusted.
std::string absolute_variable(const char* name) {
  const char* value = secure_getenv(name);
  return value != nullptr && value[0] == '/' ? value : "";
}

std::string cache_folder() {
  if (std::string own = absolute_variable("PURLIN_CACHE_DIR"); !own.empty()) return own;
  if (std::string xdg = absolute_variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/purlin";
  if (std::string home = absolute_variable("HOME"); !home.empty()) return home + "/.cache/purlin";
  return {};
}

}  // namespace

ProgramSources ProgramSources::from_environment() {
  ProgramSources out;
  out.libraries = default_library_search();
  out.cache = cache_folder();
  if (const char* path = secure_getenv("PURLIN_PROGRAM_PATH"); path != nullptr) {
    std::string_view rest = path;
    while (!rest.empty()) {
      const auto folder = rest.substr(0, rest.find(':'));
      if (folder.starts_with('/')) out.prelinked.emplace_back(folder);
      rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    }
  }
  return out;
}

}  // namespace purlin
