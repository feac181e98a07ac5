// Element values for conformance checks, as raw bytes.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace purlin::tools::check {

using Bytes = std::vector<unsigned char>;

// Small whole numbers: no rounding, no order, no special value matters.
Bytes tame_elements(int dtype, uint64_t count, std::mt19937_64& random);

// Zeros of both signs, subnormals, extremes, infinities, NaNs with payloads, any bits, and values
// whose sums round differently in every other order.
Bytes wild_elements(int dtype, uint64_t count, std::mt19937_64& random);

}  // namespace purlin::tools::check
