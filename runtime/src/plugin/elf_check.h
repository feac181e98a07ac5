// Is this file a whole, sane shared object with our entry? Decided from its bytes alone, before the
// system's loader sees it: the loader maps what headers promise, and a file that is shorter than
// that kills the process with SIGBUS.
#pragma once

#include <cstddef>
#include <span>

#include "plugin/verdict.h"

namespace purlin::plugin {

// Checks `file`, the whole content of a plugin. Pure, never reads outside the span, whatever the
// bytes are. Accepted means: ELF of this process's class, byte order and machine; a shared object;
// headers, segments and sections inside the file; dynamic tables inside the segments; the entry
// function defined in the dynamic symbol table. It does not mean that the object is benign.
Verdict check_elf(std::span<const std::byte> file);

}  // namespace purlin::plugin
