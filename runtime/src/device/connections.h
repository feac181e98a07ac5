// Hardware queues of a GPU: ranks that share one wait for each other's kernels to end, for ever.
#pragma once

#include "status/status.h"

namespace purlin {

// The driver's number of queues where nothing is set, and the most that can be had.
inline constexpr unsigned kDefaultConnections = 8;
inline constexpr unsigned kMostConnections = 32;

// Sets CUDA_DEVICE_MAX_CONNECTIONS to kMostConnections in this process unless the application set
// it or local_ranks fit the default. The driver reads it when it starts: call this before driver()
// where the ranks are known in advance. Changes the environment, so call it before threads read
// that.
void raise_connections(unsigned local_ranks);

// Whether `local_ranks` ranks of this process on one GPU have a queue each.
// PURLIN_UNSUPPORTED: they have not; with the number in force and where it comes from.
// `driver_was_running`: DriverApi::was_running().
Status check_connections(unsigned local_ranks, bool driver_was_running);

}  // namespace purlin
