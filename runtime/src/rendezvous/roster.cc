#include "rendezvous/roster.h"

#include <fmt/format.h>

namespace purlin {

std::string describe_rank(int rank, pid_t pid) {
  return fmt::format("rank {} (process {})", rank, pid);
}

std::string Roster::describe(int r) const {
  return describe_rank(r, seats[static_cast<size_t>(r)].pid);
}

std::string list_ranks(const std::vector<bool>& flags) {
  std::string text;
  int count = 0;
  for (size_t first = 0; first < flags.size(); ++first) {
    if (!flags[first]) continue;
    size_t last = first;
    while (last + 1 < flags.size() && flags[last + 1]) ++last;
    count += static_cast<int>(last - first) + 1;
    if (!text.empty()) text += ", ";
    text += last == first ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    first = last;
  }
  return (count == 1 ? "rank " : "ranks ") + text;
}

}  // namespace purlin
