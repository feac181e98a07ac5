// A descriptor that tells its holders when a process has ended.
#pragma once

#include "memory/owned_fd.h"
#include "rendezvous/token.h"
#include "status/status.h"

namespace purlin {

enum class LifelineKind {
  kProcess,  // a pidfd: readable once the process has ended
  kPipe      // the read end of a pipe whose write end the process holds: hangs up at its end, or at
             // that of a child it forked without exec, whichever is later
};

// A lifeline of this process, to be passed to peers. All of kind kPipe share one pipe, whose
// write end stays open until the process ends or execs.
Result<OwnedFd> make_lifeline(LifelineKind kind);
// kProcess where the kernel offers it, else kPipe.
Result<OwnedFd> make_lifeline();

// Random name of this process, another one in a child made by fork.
Result<Identity> process_identity();

}  // namespace purlin
