// The limits that an Atom declares: in range, in order, with the defaults between them.
#pragma once

#include "plugin/plugin_memory.h"
#include "plugin/verdict.h"
#include "purlin/atom_abi.h"

namespace purlin::plugin {

// Checks descriptor.limits, whose kind is known already. Reads only through `memory`.
Verdict check_limits(const purlin_atom_descriptor& descriptor, const PluginMemory& memory);

}  // namespace purlin::plugin
