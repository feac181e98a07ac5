// Registered buffers of GPU ranks.
#pragma once

#include "communicator/mapped_window.h"
#include "device/cuda_device.h"
#include "rendezvous/rendezvous.h"

namespace purlin {

// Collective: offers [buffer, buffer + bytes) to the peers and maps theirs for `device`. What
// cannot be shared or reached has base 0. PURLIN_INVALID_ARGUMENT, on every rank, where one gave
// memory that kernels cannot use.
Result<MappedWindow> map_cuda_window(const std::shared_ptr<const CudaDevice>& device, void* buffer,
                                     uint64_t bytes, Rendezvous& rendezvous);

}  // namespace purlin
