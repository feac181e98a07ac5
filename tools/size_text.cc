#include "tools/size_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "tools/nearest.h"

namespace purlin::tools {
namespace {

constexpr std::array<std::pair<std::string_view, int>, 5> kUnits = {
    {{"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}};

Error bad_size(std::string_view text, std::string_view why) {
  return Error{
      fmt::format("\"{}\" is not a size: {}. Write whole bytes or a unit: 4096, 64KiB, "
                  "1MiB, 2GiB.",
                  text, why)};
}

}  // namespace

Outcome<uint64_t> parse_size(std::string_view text) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, fault] = std::from_chars(text.data(), end, number);
  if (fault == std::errc::result_out_of_range) return bad_size(text, "the number is above 64 bits");
  if (fault != std::errc{}) return bad_size(text, "it does not begin with a digit");
  std::string_view unit(rest, static_cast<size_t>(end - rest));
  if (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  if (rest == end) return number;
  for (const auto& [name, shift] : kUnits) {
    if (unit != name) continue;
    if (number > (UINT64_MAX >> shift)) return bad_size(text, "the number is above 64 bits");
    return number << shift;
  }
  std::vector<std::string_view> names;
  for (const auto& entry : kUnits) names.push_back(entry.first);
  if (unit == "K" || unit == "k" || unit == "M" || unit == "G" || unit == "T")
    return bad_size(text, fmt::format("for 1024-based units write \"{}{}iB\"", number,
                                      unit == "k" ? "K" : unit));
  return bad_size(text, unknown_word("unit", unit, names));
}

std::string format_size(uint64_t bytes) {
  for (auto unit = kUnits.rbegin(); unit != kUnits.rend(); ++unit) {
    const uint64_t one = uint64_t{1} << unit->second;
    if (bytes >= one && bytes % one == 0)
      return fmt::format("{}{}", bytes >> unit->second, unit->first);
  }
  return "0B";
}

std::vector<uint64_t> size_series(uint64_t first, uint64_t last, uint64_t factor) {
  std::vector<uint64_t> sizes;
  uint64_t size = first;
  while (size <= last) {
    sizes.push_back(size);
    if (size > UINT64_MAX / factor) break;
    size = size == 0 ? 1 : size * factor;
  }
  return sizes;
}

}  // namespace purlin::tools
