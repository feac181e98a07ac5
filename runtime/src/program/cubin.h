// Reads what a program needs to know out of a cubin, which is an ELF file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "program/program.h"
#include "status/status.h"

namespace purlin {

struct CubinFacts {
  std::vector<KernelResources> kernels;     // in the order of the symbol table
  std::map<std::string, uint32_t> globals;  // initialized 4-byte device globals by name
};

// PURLIN_LINK_ERROR for anything that is no whole 64-bit little-endian ELF file; never reads
// outside `cubin`, whatever it holds.
Result<CubinFacts> read_cubin(std::span<const std::byte> cubin);

}  // namespace purlin
