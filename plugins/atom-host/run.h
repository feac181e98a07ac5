// The walk over segments: the table's `run`.
#pragma once

#include "purlin/atom_abi.h"

namespace purlin::atom_host {

// As purlin_host_atom::run says. Moves each segment in pieces of stage_bytes / sources, 16 KiB at
// most, if it has more than one destination, so that all but the first copy read the nearest cache.
// Writes past the caches into memory that ranks share and into large outputs, where the constants
// say so. Unicast segments only: this Atom declares no switch capability.
int run(const purlin_constants* constants, const purlin_group* group,
        const purlin_snac_calls* calls, void* snac);

}  // namespace purlin::atom_host
