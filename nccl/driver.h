// The few things that need the CUDA driver here: which device a thread has made current, and
// scalars in device memory. The driver library is opened when first needed; without it there are no
// devices.
#pragma once

#include "nccl/abi.h"

namespace purlin::nccl {

struct CurrentDevice {
  int ordinal = -1;         // -1: there is no driver, or its library cannot be used
  void* context = nullptr;  // null: none is current, and the first device is meant
};
CurrentDevice current_device();

// Makes `context`, if it is not null, current on the calling thread.
void enter(void* context);

// The context of the CUDA runtime on a device, kept until the process ends; null if there is none.
void* primary_context(int ordinal);

// Reads `bytes` (1 to 8) bytes of device memory after all work of `stream` so far, and waits for
// that. kInvalidUsage, remembered, while the stream is captured.
Result read_after(Stream stream, const void* address, size_t bytes, uint64_t* bits);

// PURLIN_NCCL_DEVICE=host: communicators of CPU ranks.
bool host_ranks();
// kInvalidUsage, remembered, when that variable says anything else.
Result check_device_variable();

}  // namespace purlin::nccl
