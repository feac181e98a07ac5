// One link: constants through NVRTC, then all images through nvJitLink.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "program/request.h"
#include "program/toolbox.h"
#include "program/trace.h"
#include "status/status.h"

namespace purlin {

// The cubin for a request that check_request has passed. Refuses a linker that is older than a
// compiler before it is used. An image that cannot be inlined is a line in the trace.
Result<std::vector<std::byte>> link_cubin(const ProgramRequest& request, Toolbox& tools,
                                          ProgramTrace& trace);

// The same link as PTX text, for tests that look at it before ptxas does.
Result<std::string> link_ptx(const ProgramRequest& request, Toolbox& tools, ProgramTrace& trace);

}  // namespace purlin
