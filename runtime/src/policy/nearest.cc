#include "policy/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace purlin::policy {
namespace {

constexpr size_t kLongestCompared = 64;

char folded(char c) {
  return c == '-' || c == ' ' ? '_'
                              : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

// Optimal string alignment distance.
size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = folded(a[i - 1]) == folded(b[j - 1]) ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + replace});
      if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
          folded(a[i - 2]) == folded(b[j - 1]))
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest_word(std::string_view text,
                                        const std::vector<std::string>& candidates) {
  if (text.empty() || text.size() > kLongestCompared) return std::nullopt;
  const std::string* best = nullptr;
  size_t fewest = 0;
  for (const std::string& candidate : candidates) {
    const size_t distance = edits(text, candidate);
    if (best == nullptr || distance < fewest) {
      best = &candidate;
      fewest = distance;
    }
  }
  if (best == nullptr) return std::nullopt;
  const size_t allowed = std::max<size_t>(1, std::max(text.size(), best->size()) / 3);
  if (fewest > allowed || fewest >= best->size()) return std::nullopt;
  return *best;
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& candidates) {
  const auto word = nearest_word(text, candidates);
  return word ? fmt::format("; did you mean \"{}\"?", *word) : std::string();
}

std::string comma_list(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

std::string quoted(std::string_view text) {
  constexpr size_t kShown = 60;
  size_t end = std::min(text.size(), kShown);
  // Never cut a UTF-8 character in two.
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;
  std::string out = "\"";
  for (const char c : text.substr(0, end)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + (end < text.size() ? "…\"" : "\"");
}

}  // namespace purlin::policy
