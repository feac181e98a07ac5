#include "plugin/text_rules.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>

namespace purlin::plugin {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_numeric(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// Takes the part before the first `mark`; `rest` keeps what follows it.
std::string_view take(std::string_view* rest, char mark) {
  const auto at = rest->find(mark);
  const std::string_view part = rest->substr(0, at);
  *rest = at == std::string_view::npos ? std::string_view{} : rest->substr(at + 1);
  return part;
}

// Dot-separated, non-empty identifiers of letters, digits and hyphens.
bool is_identifiers(std::string_view text, bool numbers_are_plain) {
  if (text.empty() || text.back() == '.') return false;
  while (!text.empty()) {
    const std::string_view part = take(&text, '.');
    const bool word = std::all_of(part.begin(), part.end(), [](char c) {
      return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
    });
    if (part.empty() || !word) return false;
    if (numbers_are_plain && is_numeric(part) && part.size() > 1 && part[0] == '0') return false;
  }
  return true;
}

struct Version {
  std::array<std::string_view, 3> numbers;
  std::string_view prerelease;
};

Version split(std::string_view text) {
  text = text.substr(0, text.find('+'));
  Version version;
  std::string_view core = take(&text, '-');
  version.prerelease = text;
  for (std::string_view& number : version.numbers) number = take(&core, '.');
  return version;
}

// Numbers without leading zeros, of any length.
int compare_numbers(std::string_view left, std::string_view right) {
  if (left.size() != right.size()) return left.size() < right.size() ? -1 : 1;
  return left.compare(right);
}

int compare_identifiers(std::string_view left, std::string_view right) {
  const bool left_number = is_numeric(left);
  const bool right_number = is_numeric(right);
  if (left_number && right_number) return compare_numbers(left, right);
  if (left_number != right_number) return left_number ? -1 : 1;
  return left.compare(right);
}

}  // namespace

bool is_atom_name(std::string_view text) {
  return !text.empty() && text.size() <= 32 && std::all_of(text.begin(), text.end(), [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-';
  });
}

bool is_version(std::string_view text) {
  if (text.size() > 64) return false;
  const auto plus = text.find('+');
  if (plus != std::string_view::npos && !is_identifiers(text.substr(plus + 1), false)) return false;
  text = text.substr(0, plus);
  const auto minus = text.find('-');
  if (minus != std::string_view::npos && !is_identifiers(text.substr(minus + 1), true))
    return false;
  const std::string_view core = text.substr(0, minus);
  return std::count(core.begin(), core.end(), '.') == 2 && is_identifiers(core, true) &&
         std::all_of(core.begin(), core.end(), [](char c) { return is_digit(c) || c == '.'; });
}

int compare_versions(std::string_view left_text, std::string_view right_text) {
  Version left = split(left_text);
  Version right = split(right_text);
  for (std::size_t i = 0; i < left.numbers.size(); ++i) {
    const int order = compare_numbers(left.numbers[i], right.numbers[i]);
    if (order != 0) return order;
  }
  if (left.prerelease.empty() || right.prerelease.empty()) {
    return static_cast<int>(left.prerelease.empty()) - static_cast<int>(right.prerelease.empty());
  }
  while (!left.prerelease.empty() && !right.prerelease.empty()) {
    const int order =
        compare_identifiers(take(&left.prerelease, '.'), take(&right.prerelease, '.'));
    if (order != 0) return order;
  }
  return static_cast<int>(right.prerelease.empty()) - static_cast<int>(left.prerelease.empty());
}

bool is_single_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

std::string usual_name(std::string_view file_name) {
  constexpr std::string_view kPrefix = "libatom-";
  constexpr std::string_view kSuffix = ".so";
  if (!file_name.starts_with(kPrefix) || !file_name.ends_with(kSuffix) ||
      file_name.size() <= kPrefix.size() + kSuffix.size()) {
    return {};
  }
  file_name.remove_prefix(kPrefix.size());
  file_name.remove_suffix(kSuffix.size());
  return std::string(file_name);
}

bool matches_glob(const char* glob, const char* text) { return fnmatch(glob, text, 0) == 0; }

}  // namespace purlin::plugin
