// The device that the options of a new communicator mean.
#pragma once

#include <memory>

#include "device/cuda_device.h"

namespace purlin {

// Null: host ranks. PURLIN_DEVICE_AUTO: the GPU current on the calling thread where a driver and a
// device are there, else the host. Several ranks may be threads of this process: the number of
// hardware queues is raised before the driver starts. PURLIN_UNSUPPORTED, with what is missing, where
// a GPU was asked for and there is none.
Result<std::shared_ptr<const CudaDevice>> device_for(const purlin_comm_options& options, int nranks);

}  // namespace purlin
