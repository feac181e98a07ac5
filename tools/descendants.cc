#include "tools/descendants.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>

namespace purlin::tools {
namespace {

// Parent of a process, from the fields after its name, which may itself hold spaces and brackets.
pid_t parent_of(const std::string& folder) {
  std::ifstream in(folder + "/stat");
  std::string text;
  std::getline(in, text);
  const size_t name_end = text.rfind(") ");
  if (name_end == std::string::npos || name_end + 4 > text.size()) return -1;
  const char* field = text.data() + name_end + 4;  // past ") S "
  pid_t parent = -1;
  std::from_chars(field, text.data() + text.size(), parent);
  return parent;
}

}  // namespace

void adopt_descendants() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", unreadable)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) continue;
    if (parent_of(entry.path().string()) == ::getpid()) found.push_back(pid);
  }
  return found;
}

}  // namespace purlin::tools
