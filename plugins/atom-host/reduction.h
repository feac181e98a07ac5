// Reducing and scaling buffers, in the right floating-point environment: the table's `reduce` and
// `scale`.
#pragma once

#include <cstdint>

#include "purlin/atom_abi.h"

namespace purlin::atom_host {

// As purlin_host_atom::reduce says.
void reduce(const purlin_constants* constants, const void* const* sources, uint32_t nsrc,
            void* destination, uint64_t bytes);

// As purlin_host_atom::scale says. `destination` may be `source`.
void scale(uint32_t dtype, const void* source, const void* scalar, void* destination,
           uint64_t bytes);

}  // namespace purlin::atom_host
