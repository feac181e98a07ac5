// Remembers in the cache folder which linker there is, so that a start with everything cached need
// not open a library of a hundred megabytes to learn its release.
#pragma once

#include <optional>

#include "program/folder.h"
#include "program/libraries.h"
#include "program/nvjitlink.h"
#include "program/trace.h"

namespace purlin {

// The release of the linker that this search would open, if it was written down and the file is
// still the same: path, device, inode, size and time.
std::optional<CudaRelease> remembered_linker(const ProgramFolder& folder,
                                             const LibrarySearch& search);

// A failure to write is a line in the trace.
void remember_linker(const ProgramFolder& folder, const LibrarySearch& search,
                     const NvJitLink& linker, ProgramTrace& trace);

}  // namespace purlin
