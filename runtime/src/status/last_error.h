// The calling thread's last error text, behind purlin_last_error().
#pragma once

#include "status/status.h"

namespace purlin {

// Remembers the message of a failed status for this thread; returns the code either way.
purlin_status remember(const Status& status);

}  // namespace purlin
