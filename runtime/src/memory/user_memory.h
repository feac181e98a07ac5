// Memory handed to the application by purlin_mem_alloc, found again by its address.
#pragma once

#include <cstdint>
#include <memory>

#include "device/cuda_device.h"

namespace purlin {

// Zeroed device memory that peers can map. Thread-safe.
Result<void*> allocate_user_memory(std::shared_ptr<const CudaDevice> device, uint64_t bytes);

// PURLIN_INVALID_ARGUMENT: the address did not come from allocate_user_memory, or was freed before.
// The caller's kernels that use it must have ended.
Status free_user_memory(void* address);

}  // namespace purlin
