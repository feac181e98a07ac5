// A thread's group: calls are gathered by purlin's own group, what ranks do together is kept for
// its end. All functions concern the calling thread's group alone.
#pragma once

#include <functional>
#include <memory>

#include "nccl/comm.h"

namespace purlin::nccl {

bool in_group();
void start_group();
// kInvalidUsage without a start. Of the outermost: does what was kept, then starts the calls; the
// first error of either, or of a call, and then no call is carried out. kInProgress when something
// goes on in the background.
Result end_group();
// Closes the group; the outermost one is forgotten with all that it holds.
void drop_group();

// An error of a call inside a group is an error of the group. Returns `result`.
Result noted(Result result);

// `comm` has put a call into purlin's group.
void has_call(const std::shared_ptr<Comm>& comm);

// What all ranks of a communicator do together: now, or at the group's end. Work of one `comm` is
// done in order, that of different ones at once.
Result together(const std::shared_ptr<Comm>& comm, std::function<Result()> work);
// The same if this thread speaks for all ranks of `comm`; otherwise `work` is dropped.
Result together_if_complete(const std::shared_ptr<Comm>& comm, std::function<Result()> work);

}  // namespace purlin::nccl
