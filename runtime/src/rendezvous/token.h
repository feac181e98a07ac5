// Secrets and random names.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "status/status.h"

namespace purlin {

using Token = std::array<std::byte, 32>;
using Identity = std::array<std::byte, 16>;

// Fills `out` from the kernel's random source.
Status fill_random(std::span<std::byte> out);

// Takes the same time whatever differs.
bool equal_in_constant_time(const Token& a, const Token& b);

}  // namespace purlin
