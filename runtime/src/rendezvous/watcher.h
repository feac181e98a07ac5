// The one thread of a process that waits for peers' processes to end.
#pragma once

#include <memory>

#include "memory/owned_fd.h"
#include "rendezvous/liveness_record.h"
#include "status/status.h"

namespace purlin {

// Subscribes `record` to the end of `process`. The thread runs while anything is subscribed; of
// several lifelines of one process one is kept. If the process has ended already, the record is
// told soon, by the thread. Thread-safe.
Status watch(const Identity& process, OwnedFd lifeline,
             const std::shared_ptr<LivenessRecord>& record);

// Ends all subscriptions of `record`; when it returns the record is told nothing more. Stops the
// thread with the last one. Not to be called from a callback of the watcher. Thread-safe.
void unwatch(const std::shared_ptr<LivenessRecord>& record);

}  // namespace purlin
