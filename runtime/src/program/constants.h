// Link-time constants: the values that turn the universal kernel of a protocol into one collective.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "status/status.h"

namespace purlin {

// Device code reads a constant named N through the function
//     extern "C" __device__ unsigned long long purlin_constant_N_d2();
// where 1 is PURLIN_ATOM_DEVICE_ABI. The linker inlines it, so the value is as good as a literal:
// loops unroll and branches vanish. One function a name, not one function with a key, so that code
// which asks for a constant the program does not have fails to link instead of reading a default.
struct Constant {
  std::string name;  // [a-z0-9_]{1,48}
  uint64_t value = 0;
  bool operator==(const Constant&) const = default;
};

// Symbol of a constant: purlin_constant_<name>_d<device ABI>.
std::string constant_symbol(const std::string& name);

// The source of the constants module; includes nothing. Deterministic: same list, same text.
// PURLIN_INVALID_ARGUMENT for a bad or repeated name.
Result<std::string> constants_source(std::span<const Constant> constants);

}  // namespace purlin
