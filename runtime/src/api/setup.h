// From the public options, and the launcher's environment where they leave things open, to a setup.
#pragma once

#include "communicator/communicator.h"

namespace purlin {

// PURLIN_INVALID_ARGUMENT and PURLIN_INVALID_USAGE say which option is wrong and what it may be.
Result<CommunicatorSetup> setup_from(const purlin_comm_options* options);

}  // namespace purlin
