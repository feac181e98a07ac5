// After a meeting has failed: those who come a moment later hear why.
#pragma once

#include <vector>

#include "memory/owned_fd.h"
#include "rendezvous/failure.h"
#include "rendezvous/meeting.h"

namespace purlin {

// Tells the failure to `newcomers` and to everybody who comes to `door`, until all ranks have been
// told (`told` says who has been already), two seconds or the request's limit are over, or a rank
// that was told comes again: it starts a new meeting and needs the name. After a timeout nobody is
// waited for any more.
void bid_farewell(const OwnedFd& door, std::vector<std::unique_ptr<Channel>> newcomers,
                  const MeetingRequest& request, const Failure& failure, std::vector<bool> told);

}  // namespace purlin
