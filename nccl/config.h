// ncclConfig_t, read as far as it was given.
#pragma once

#include "nccl/comm.h"

namespace purlin::nccl {

// Fills `wishes`, which hold what an open or missing member means. Null changes nothing.
// kInvalidArgument, remembered, for what is no configuration or makes no sense.
Result read_config(const Config* config, Wishes* wishes);

}  // namespace purlin::nccl
