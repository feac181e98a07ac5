// The device programs that a policy's calls need, worked out without a device.
#pragma once

#include <vector>

#include "communicator/cuda_programs.h"
#include "policy/choose.h"

namespace purlin {

// Every program that a call without wishes of its own may launch at `nranks` ranks: each collective at
// each size that the policy tells apart; reducing ones for the types and operations of the policy's
// `programs`. No two are equal. Custom transformations are not among them. `switch_limits` are of the
// Atom of the switch where a choice uses it: what that Atom cannot do is then listed for the other one.
std::vector<ProgramNeed> programs_of(const policy::Policy& policy,
                                     const policy::ChoiceTable& choices,
                                     const purlin_atom_limits& limits, int nranks,
                                     const purlin_atom_limits* switch_limits = nullptr);

// Of these programs those of the throughput protocol, for calls whose ranks may offer registered buffers.
std::vector<ProgramNeed> window_programs_of(std::vector<ProgramNeed> programs);

// The most CTAs that a throughput launch of these choices wants.
unsigned most_ctas(const policy::ChoiceTable& choices);

}  // namespace purlin
