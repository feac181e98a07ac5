// The plugin under test, opened by itself and without libpurlin.
#pragma once

#include "purlin/atom_abi.h"

namespace purlin::atom_host_test {

// Handle of the open plugin, as dlopen returns it. Ends the process with a message if it does not
// open.
void* plugin_handle();

const purlin_atom_descriptor& descriptor();
inline const purlin_host_atom& host_atom() { return *descriptor().host; }

// Constants of a program as the runtime would fill them.
purlin_constants constants_of(purlin_dtype dtype, purlin_op op, uint32_t nranks);

}  // namespace purlin::atom_host_test
