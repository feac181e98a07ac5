// Group calls: what a thread issues between start and end is carried out together by the end.
#pragma once

#include "api/handle.h"

namespace purlin {

// Whether this thread is inside a group.
bool in_group();

// Takes `call` into this thread's group. Arrays of counts in host memory and the scalar are copied.
// PURLIN_INVALID_ARGUMENT for arguments that can be seen to be wrong already.
Status add_to_group(std::shared_ptr<Handle> handle, const purlin_call& call, purlin_stream_t stream);

Status add_to_group(std::shared_ptr<Handle> handle, const Message& message);

}  // namespace purlin
