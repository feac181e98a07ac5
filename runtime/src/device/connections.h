// Hardware queues of a GPU: ranks that share one wait for each other's kernels to end, for ever.
#pragma once

#include "status/status.h"

namespace purlin {

// The driver's number of queues where nothing is set, and the most that can be had.
inline constexpr unsigned kDefaultConnections = 8;
inline constexpr unsigned kMostConnections = 32;

// For more than one rank: sets CUDA_DEVICE_MAX_CONNECTIONS to kMostConnections in this process
// unless the application set it. Streams are dealt to queues in turn, and each rank has several
// (the application's, the stop word's), so even two ranks may otherwise meet in one queue. The
// driver reads the variable when it starts: call this before driver() where the ranks are known in
// advance, and before other threads read the environment.
void raise_connections(unsigned local_ranks);

// Whether `local_ranks` ranks of this process on one GPU have a queue each.
// PURLIN_UNSUPPORTED: they have not; with the number in force and where it comes from.
// `driver_was_running`: DriverApi::was_running().
Status check_connections(unsigned local_ranks, bool driver_was_running);

}  // namespace purlin
