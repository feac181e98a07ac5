// Programs in folders: the writable cache of this user and read-only prelinked folders.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/digest.h"
#include "program/folder.h"
#include "program/image.h"
#include "program/trace.h"

namespace purlin {

// A cubin that was found, with the release of the linker that made it.
struct StoredProgram {
  CudaRelease linker = 0;
  std::vector<std::byte> cubin;
};

// The program with this digest in `folder`: by exactly `linker`, or, without one, by the newest
// there is. Nothing if there is none, or if it cannot be trusted or read; then a line in the trace
// says why, a damaged file with the word "warning". A folder is read anew each time: it may fill
// meanwhile.
std::optional<StoredProgram> find_program(const ProgramFolder& folder, const Digest& digest,
                                          std::optional<CudaRelease> linker, ProgramTrace& trace);

// Writes it; a failure is a line in the trace, since a cache that cannot be written only costs
// time.
void keep_program(const ProgramFolder& folder, const Digest& digest, CudaRelease linker,
                  std::span<const std::byte> cubin, ProgramTrace& trace);

}  // namespace purlin
