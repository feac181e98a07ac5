// Programs of the built Atom plugins, linked for any device.
#pragma once

#include <string>
#include <vector>

#include "program/program.h"
#include "program/protocol_program.h"
#include "status/status.h"

namespace purlin {

// False, after saying that the test skips, in a build without a CUDA toolkit.
bool have_device_code();

struct BuiltAtom {
  const purlin_atom_descriptor* descriptor = nullptr;
  std::vector<DeviceImage> images;
};
// The plugin of that name beside the tests' libpurlin; a failed requirement if it is not there.
const BuiltAtom& built_atom(const std::string& name);

// Forms, as the collectives have them.
snac::Form all_reduce_form(uint32_t nranks, bool push = false);
snac::Form all_gather_form(uint32_t nranks);
snac::Form reduce_scatter_form(uint32_t nranks);
snac::Form all_to_all_form(uint32_t nranks);

// The Atom's default pipeline; 512 threads for the latency kernel.
ProtocolConstants constants_for(const BuiltAtom& atom, ProtocolKernel kernel,
                                const snac::Form& form, uint32_t nranks, purlin_dtype dtype,
                                purlin_op op);

// Links and checks like the library, without its cache.
Result<ProgramHandle> link_program(const BuiltAtom& atom, ProtocolKernel kernel,
                                   const ProtocolConstants& constants, uint32_t cc);

// The PTX between the parts and the machine code.
Result<std::string> ptx_of(const BuiltAtom& atom, ProtocolKernel kernel,
                           const ProtocolConstants& constants, uint32_t cc);

}  // namespace purlin
