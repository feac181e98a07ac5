#include "program/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "purlin/atom_abi.h"

namespace purlin {

std::string constant_symbol(const std::string& name) {
  return fmt::format("purlin_constant_{}_d{}", name, PURLIN_ATOM_DEVICE_ABI);
}

Result<std::string> constants_source(std::span<const Constant> constants) {
  std::string source;
  std::set<std::string> seen;
  for (const auto& [name, value] : constants) {
    const bool legal =
        !name.empty() && name.size() <= 48 && std::all_of(name.begin(), name.end(), [](char c) {
          return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
        });
    if (!legal)
      return Status(
          PURLIN_INVALID_ARGUMENT,
          fmt::format("program constant '{}': a name is 1 to 48 of a-z, 0-9 and _", name));
    if (!seen.insert(name).second)
      return Status(PURLIN_INVALID_ARGUMENT,
                    fmt::format("program constant '{}' is given twice; give it once", name));
    source += fmt::format("extern \"C\" __device__ unsigned long long {}() {{ return {}ull; }}\n",
                          constant_symbol(name), value);
  }
  return source;
}

}  // namespace purlin
