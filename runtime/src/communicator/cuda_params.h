// A launch as the one argument of its kernel.
#pragma once

#include "communicator/cuda_grid.h"
#include "communicator/pair_launch.h"
#include "program/protocol_program.h"

namespace purlin {

using DeviceParams = snac::CallParamsOf<kDeviceRanks>;
using DevicePairParams = snac::InlinePairParamsOf<kDeviceRanks>;

// `epoch_words`: of the wire.
DeviceParams device_params(const snac::CallParams& p, uint32_t epoch_words, const Ctas& ctas);
// `ctas`: of each stream. At most DevicePairParams::kMostMessages messages.
DevicePairParams device_pair_params(const PairLaunch& call, uint32_t ctas);

}  // namespace purlin
