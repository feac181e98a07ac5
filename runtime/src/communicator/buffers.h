// Null and overlapping buffers, and the in-place forms.
#pragma once

#include "communicator/call_facts.h"

namespace purlin {

// Checks the two buffers of a measured call as this rank uses them and sets facts->in_place.
// PURLIN_INVALID_ARGUMENT for a null buffer that holds bytes, and for an overlap that is not the
// collective's in-place form (named in the text).
Status check_buffers(CallFacts* facts, int nranks, int rank);

}  // namespace purlin
