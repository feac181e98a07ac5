// What a communicator is bound to, in one line.
#pragma once

#include <string>

#include "nccl/comm.h"

namespace purlin::nccl {

// Library, rank, device, Atom and policy with the reasons for both. Takes no lock; comm.purlin is
// ready.
std::string describe(const Comm& comm);

}  // namespace purlin::nccl
