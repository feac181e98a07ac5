// The ladder for one program: finished, cached, linked. No threads, no memory of its own.
#pragma once

#include <optional>

#include "program/program.h"
#include "program/request.h"
#include "program/sources.h"
#include "program/toolbox.h"
#include "program/trace.h"
#include "status/status.h"

namespace purlin {

// What to do while another process makes the same program.
enum class WhenBusy { kReturn, kWait };

// Climbs until a rung serves; each that does not leaves a line in the trace. Without a value:
// another process is making it (kReturn only). Waits at most sources.lock_timeout_ms.
std::optional<Result<ProgramHandle>> climb(const ProgramRequest& request, const Digest& digest,
                                           const ProgramSources& sources, Toolbox& tools,
                                           WhenBusy busy, ProgramTrace& trace);

// The rungs below the link alone; nullptr when none serves.
ProgramHandle find_finished(const ProgramRequest& request, const Digest& digest,
                            const ProgramSources& sources, Toolbox& tools, ProgramTrace& trace);

}  // namespace purlin
