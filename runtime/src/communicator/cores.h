// How many cores the ranks of a communicator may run on.
#pragma once

#include "rendezvous/rendezvous.h"

namespace purlin {

// Collective, over threads and processes alike: how many cores there are to which at least one
// rank's calling thread may go. PURLIN_SYSTEM_ERROR when this rank cannot ask, after telling the
// others.
Result<int> cores_of_ranks(Rendezvous& rendezvous);

}  // namespace purlin
