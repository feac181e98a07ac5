// Sizes as people write them: "64KiB", "1MiB", "4096".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/outcome.h"

namespace purlin::tools {

// Bytes from a decimal whole number with an optional unit B, KiB, MiB, GiB or TiB (spelled exactly;
// one space may stand between). Errors name the text and the nearest form that is accepted.
Outcome<uint64_t> parse_size(std::string_view text);

// The shortest exact form: 65536 is "64KiB", 1000 is "1000B".
std::string format_size(uint64_t bytes);

// first, first * factor, … up to and including last. Zero is followed by one. Requires factor >= 2.
std::vector<uint64_t> size_series(uint64_t first, uint64_t last, uint64_t factor);

}  // namespace purlin::tools
