// The last check before a cubin is called a program, whichever rung of the ladder it came from.
#pragma once

#include <cstddef>
#include <vector>

#include "program/program.h"
#include "program/request.h"
#include "program/trace.h"
#include "status/status.h"

namespace purlin {

// Reads the cubin and checks it against the request: its kernels are there and fit the registers of
// their CTA, and the globals of its parts hold our device-ABI version. PURLIN_LINK_ERROR otherwise.
// Local memory used by a kernel is a line in the trace.
Result<ProgramHandle> finish_program(const ProgramRequest& request, const Digest& digest,
                                     ProgramOrigin origin, CudaRelease linker,
                                     std::vector<std::byte> cubin, ProgramTrace& trace);

}  // namespace purlin
