// The bytes of a program file (docs/programs.md, "A program file, byte by byte").
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "program/digest.h"
#include "program/image.h"
#include "status/status.h"

namespace purlin {

// A view into the bytes that were read.
struct ProgramFile {
  Digest digest{};  // of the program's inputs
  CudaRelease linker = 0;
  std::span<const std::byte> cubin;
};

std::vector<std::byte> write_program_file(const Digest& digest, CudaRelease linker,
                                          std::span<const std::byte> cubin);

// PURLIN_LINK_ERROR says what is damaged: magic, layout version, length or digest of the contents.
Result<ProgramFile> read_program_file(std::span<const std::byte> bytes);

// "<digest>-<release>.program"
std::string program_file_name(const Digest& digest, CudaRelease linker);

// The release in a name that program_file_name made for this digest; 0 if the name is another.
CudaRelease release_in_file_name(const std::string& name, const Digest& digest);

}  // namespace purlin
