#include "policy/quantity.h"

#include <fmt/format.h>

#include <cctype>
#include <optional>

#include "policy/nearest.h"

namespace purlin::policy {
namespace {

constexpr uint64_t kTooMuch = 1ull << 63;

struct Unit {
  const char* name;
  uint64_t factor;
};
constexpr Unit kSizes[] = {{"KiB", 1ull << 10}, {"MiB", 1ull << 20}, {"GiB", 1ull << 30}};
constexpr Unit kTimes[] = {{"ms", 1}, {"s", 1000}, {"min", 60'000}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Decimal digits alone, without a leading zero; nothing if the value reaches 2^63.
std::optional<uint64_t> digits(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  uint64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    const uint64_t digit = static_cast<uint64_t>(c - '0');
    if (value > (kTooMuch - 1 - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

bool all_digits(std::string_view text) {
  for (const char c : text)
    if (!is_digit(c)) return false;
  return !text.empty();
}

size_t leading_digits(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  return n;
}

// What a size in another notation most likely meant, or "".
std::string guess_size(std::string_view text) {
  std::string bare;
  for (const char c : text)
    if (c != ' ' && c != '_' && c != ',' && c != '+')
      bare += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  uint64_t value = 0;
  if (bare.size() > 2 && bare.size() <= 17 && bare.compare(0, 2, "0x") == 0) {
    for (const char c : bare.substr(2)) {
      if (!std::isxdigit(static_cast<unsigned char>(c))) return "";
      value = value * 16 + static_cast<uint64_t>(is_digit(c) ? c - '0' : c - 'a' + 10);
    }
    return format_size(value);
  }
  size_t start = 0;
  while (start + 1 < bare.size() && bare[start] == '0' && is_digit(bare[start + 1])) ++start;
  bare.erase(0, start);
  size_t end = leading_digits(bare);
  const auto mantissa = digits(std::string_view(bare).substr(0, end));
  if (!mantissa) return "";
  if (end < bare.size() && bare[end] == '.') {  // a fraction of zeros
    ++end;
    while (end < bare.size() && bare[end] == '0') ++end;
  }
  const std::string rest = bare.substr(end);
  if (rest.empty()) return format_size(*mantissa);
  if (rest[0] == 'e' && all_digits(rest.substr(1)) && rest.size() <= 3) {
    value = *mantissa;
    for (int power = std::stoi(rest.substr(1)); power > 0; --power) {
      if (value > kTooMuch / 10) return "";
      value *= 10;
    }
    return format_size(value);
  }
  if (rest == "b" || rest == "byte" || rest == "bytes") return fmt::format("{}", *mantissa);
  if (rest.size() > 3 && rest != "bytes") return "";
  for (const Unit& unit : kSizes)
    if (rest[0] == std::tolower(unit.name[0])) return fmt::format("{}{}", *mantissa, unit.name);
  return "";
}

std::string suggestion(const std::string& guess) {
  return guess.empty() ? ". " : fmt::format("; did you mean \"{}\"? ", guess);
}

template <class T>
Parsed<T> failed(std::string error) {
  Parsed<T> result;
  result.error = std::move(error);
  return result;
}

}  // namespace

Parsed<uint64_t> parse_size(std::string_view text) {
  constexpr const char* kHow = "Write whole bytes or KiB, MiB, GiB: 8192, 64KiB";
  const size_t end = leading_digits(text);
  const std::string_view number = text.substr(0, end), unit_name = text.substr(end);
  uint64_t factor = unit_name.empty() ? 1 : 0;
  for (const Unit& unit : kSizes)
    if (unit_name == unit.name) factor = unit.factor;
  if (factor != 0 && end > 0 && (end == 1 || text[0] != '0')) {
    const auto value = digits(number);
    if (!value || *value > (kTooMuch - 1) / factor)
      return failed<uint64_t>(fmt::format(
          "{} is too large for a size, which must be below 2^63 bytes; write less", quoted(text)));
    return {*value * factor, {}};
  }
  return failed<uint64_t>(
      fmt::format("{} is no size{}{}", quoted(text), suggestion(guess_size(text)), kHow));
}

Parsed<uint64_t> parse_count(std::string_view text) {
  if (const auto value = digits(text)) return {*value, {}};
  if (all_digits(text) && text[0] != '0')
    return failed<uint64_t>(fmt::format(
        "{} is too large for a count, which must be below 2^63; write less", quoted(text)));
  const std::string guess = guess_size(text);
  return failed<uint64_t>(fmt::format("{} is no count{}Write decimal digits: 16", quoted(text),
                                      suggestion(all_digits(guess) ? guess : "")));
}

Parsed<std::chrono::milliseconds> parse_duration(std::string_view text) {
  using Duration = std::chrono::milliseconds;
  constexpr const char* kHow = "Write a whole number and ms, s or min: 500ms, 30s, 10min";
  constexpr uint64_t kLongest = 1440 * 60'000ull;
  const size_t end = leading_digits(text);
  const auto value = digits(text.substr(0, end));
  const std::string_view unit_name = text.substr(end);
  for (const Unit& unit : kTimes) {
    if (!value || unit_name != unit.name) continue;
    if (*value == 0 || *value > kLongest / unit.factor)
      return failed<Duration>(
          fmt::format("{} is outside 1ms..1440min; choose a duration within", quoted(text)));
    return {Duration(static_cast<int64_t>(*value * unit.factor)), {}};
  }
  std::string guess;
  if (value) {
    std::string spelt;
    for (const char c : unit_name)
      if (c != ' ') spelt += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const char* meant = nullptr;
    if (spelt.empty() || spelt == "s" || spelt.rfind("sec", 0) == 0) meant = "s";
    if (spelt == "ms" || spelt.rfind("milli", 0) == 0) meant = "ms";
    if (spelt == "m" || spelt.rfind("min", 0) == 0) meant = "min";
    if (meant != nullptr) guess = fmt::format("{}{}", *value, meant);
  }
  return failed<Duration>(
      fmt::format("{} is no duration{}{}", quoted(text), suggestion(guess), kHow));
}

Parsed<ByteRange> parse_byte_range(std::string_view text) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    const auto size = parse_size(text);
    const std::string guess =
        size.is_ok() ? fmt::format("0..{}", format_size(size.value)) : std::string();
    return failed<ByteRange>(
        fmt::format("{} is no range of sizes{}Write 64KiB..1MiB, ..64KiB or 1MiB..", quoted(text),
                    suggestion(guess)));
  }
  const std::string_view from = text.substr(0, dots), to = text.substr(dots + 2);
  ByteRange range;
  if (from.empty() && to.empty())
    return failed<ByteRange>(
        "\"..\" is no range of sizes. Leave the key out to mean every size, or write 64KiB..1MiB");
  if (!from.empty()) {
    const auto size = parse_size(from);
    if (!size.is_ok()) return failed<ByteRange>(size.error);
    range.above = size.value;
  }
  if (!to.empty()) {
    const auto size = parse_size(to);
    if (!size.is_ok()) return failed<ByteRange>(size.error);
    range.up_to = size.value;
  }
  if (range.up_to < range.above || (range.up_to == range.above && range.above != 0)) {
    const bool reversed = range.up_to < range.above;
    return failed<ByteRange>(
        fmt::format("{} holds no size: it {}. Write the smaller size first: {}..{}", quoted(text),
                    reversed ? "is reversed" : "ends where it begins",
                    format_size(reversed ? range.up_to : 0), format_size(range.above)));
  }
  return {range, {}};
}

Parsed<RankRange> parse_rank_range(std::string_view text) {
  const size_t dots = text.find("..");
  const std::string_view from = text.substr(0, dots);
  const std::string_view to = dots == std::string_view::npos ? from : text.substr(dots + 2);
  RankRange range;
  const auto one = [&](std::string_view part, int& out) -> std::string {
    const auto count = parse_count(part);
    if (!count.is_ok() || count.value < 1 || count.value > PURLIN_MAX_RANKS) {
      std::string guess(text);  // "2-8", "2 .. 8"
      if (dots == std::string_view::npos && guess.find('-') != std::string::npos)
        guess.replace(guess.find('-'), 1, "..");
      return fmt::format("{} is no range of ranks 1..{}{}Write 2, 2..8 or 4..", quoted(text),
                         PURLIN_MAX_RANKS, suggestion(guess == text ? "" : guess));
    }
    out = static_cast<int>(count.value);
    return "";
  };
  std::string error;
  if (!from.empty() || to.empty()) error = one(from, range.first);
  if (error.empty() && !to.empty()) error = one(to, range.last);
  if (error.empty() && range.last < range.first)
    error = fmt::format("{} is reversed. Write the smaller number first: {}..{}", quoted(text),
                        range.last, range.first);
  return error.empty() ? Parsed<RankRange>{range, {}} : failed<RankRange>(error);
}

std::string format_size(uint64_t bytes) {
  for (int i = 2; i >= 0; --i)
    if (bytes != 0 && bytes % kSizes[i].factor == 0)
      return fmt::format("{}{}", bytes / kSizes[i].factor, kSizes[i].name);
  return fmt::format("{}", bytes);
}

std::string format_duration(std::chrono::milliseconds duration) {
  const auto count = static_cast<uint64_t>(duration.count());
  for (int i = 2; i > 0; --i)
    if (count != 0 && count % kTimes[i].factor == 0)
      return fmt::format("{}{}", count / kTimes[i].factor, kTimes[i].name);
  return fmt::format("{}ms", count);
}

std::string format(const ByteRange& range) {
  return fmt::format("{}..{}", format_size(range.above),
                     range.up_to == kNoLimit ? std::string() : format_size(range.up_to));
}

std::string format(const RankRange& range) {
  if (range.first == range.last) return fmt::format("{}", range.first);
  return fmt::format("{}..{}", range.first, range.last);
}

}  // namespace purlin::policy
