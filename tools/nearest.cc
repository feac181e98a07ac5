#include "tools/nearest.h"

#include <fmt/format.h>

#include <algorithm>

namespace purlin::tools {

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<int>> cost(a.size() + 1, std::vector<int>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) cost[i][0] = static_cast<int>(i);
  for (size_t j = 0; j <= b.size(); ++j) cost[0][j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      int best = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        best = std::min(best, cost[i - 2][j - 2] + 1);
      cost[i][j] = best;
    }
  }
  return cost[a.size()][b.size()];
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known) {
  std::string_view best;
  int least = static_cast<int>(word.size() + 1) / 2 + 1;
  for (std::string_view candidate : known) {
    const int distance = edit_distance(word, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string unknown_word(std::string_view what, std::string_view word,
                         const std::vector<std::string_view>& known) {
  const std::string_view guess = nearest(word, known);
  const std::string hint = guess.empty() ? "" : fmt::format(" did you mean \"{}\"?", guess);
  return fmt::format("unknown {} \"{}\";{} Known: {}.", what, word, hint, fmt::join(known, ", "));
}

}  // namespace purlin::tools
