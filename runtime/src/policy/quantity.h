// Sizes, counts and durations as a policy and the environment write them (docs/policy.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "policy/scope.h"

namespace purlin::policy {

// A value, or why there is none: `error` is then a sentence that begins with the text in quotes,
// offers the nearest valid spelling and says what may be written.
template <class T>
struct Parsed {
  T value{};
  std::string error;
  bool is_ok() const { return error.empty(); }
};

Parsed<uint64_t> parse_size(std::string_view text);                       // bytes, below 2^63
Parsed<uint64_t> parse_count(std::string_view text);                      // below 2^63
Parsed<std::chrono::milliseconds> parse_duration(std::string_view text);  // 1 ms .. 1440 min
Parsed<ByteRange> parse_byte_range(std::string_view text);
Parsed<RankRange> parse_rank_range(std::string_view text);

// The shortest spelling that parses back to the same value: "64KiB", "8193".
std::string format_size(uint64_t bytes);
std::string format_duration(std::chrono::milliseconds duration);
std::string format(const ByteRange& range);  // "64KiB..1MiB", "1MiB.."
std::string format(const RankRange& range);  // "2", "2..8"

}  // namespace purlin::policy
