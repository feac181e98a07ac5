#include "memory/available_memory.h"

#include <fstream>
#include <optional>
#include <sstream>

namespace purlin {
namespace {

// Value after `key` in a file of "key value" lines.
std::optional<uint64_t> field(const std::string& path, const std::string& key) {
  std::ifstream in(path);
  std::string word;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    uint64_t value = 0;
    if (words >> word >> value && word == key) return value;
  }
  return std::nullopt;
}

std::optional<uint64_t> number(const std::string& path) {
  std::ifstream in(path);
  uint64_t value = 0;
  if (in >> value) return value;  // "max" is no number: no limit
  return std::nullopt;
}

struct GroupFiles {
  const char *limit, *usage, *reclaimable;
};
constexpr GroupFiles kVersion2{"memory.max", "memory.current", "inactive_file"};
constexpr GroupFiles kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_inactive_file"};

// Narrows `least` by the group at mount + path and all its parents. Inside a container the path may
// be one of the host's; the mount itself then is the container's group, hence the walk to "".
void narrow(AvailableMemory& least, const std::string& mount, std::string path,
            const GroupFiles& files) {
  while (true) {
    const std::string folder = mount + path + "/";
    const auto limit = number(folder + files.limit);
    const auto usage = number(folder + files.usage);
    if (limit && usage) {
      const uint64_t reclaimable = field(folder + "memory.stat", files.reclaimable).value_or(0);
      const uint64_t used = *usage > reclaimable ? *usage - reclaimable : 0;
      const uint64_t left = *limit > used ? *limit - used : 0;
      if (left < least.bytes) least = {left, "the memory group " + folder + files.limit};
    }
    if (path.empty()) return;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

}  // namespace

AvailableMemory available_memory(const std::string& root) {
  AvailableMemory least;
  if (const auto kib = field(root + "/proc/meminfo", "MemAvailable:"))
    least = {*kib * 1024, "the machine (MemAvailable in /proc/meminfo)"};

  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // number:controllers:path
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    if (controllers == ",,") narrow(least, root + "/sys/fs/cgroup", path, kVersion2);
    if (controllers.find(",memory,") != std::string::npos)
      narrow(least, root + "/sys/fs/cgroup/memory", path, kVersion1);
  }
  return least;
}

}  // namespace purlin
