// What an address given by the application is, and by which means its memory could be shared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/cuda_device.h"

namespace purlin {

enum class BufferKind {
  kVirtual,     // reserved and mapped by the application or its framework (growable segments)
  kPlain,       // a plain device allocation
  kPool,        // from a stream-ordered pool
  kManaged,     // migrates between host and devices
  kPinnedHost,  // page-locked host memory
  kHost,        // host memory the driver does not know
};

// One allocation under a buffer, or for virtual memory one mapping.
struct BufferPiece {
  cu::DevicePtr base = 0;
  uint64_t bytes = 0;
};

struct BufferOrigin {
  BufferKind kind = BufferKind::kHost;
  int device_ordinal = -1;  // device kinds only
  std::vector<BufferPiece>
      pieces;           // all that the buffer touches, in address order; none for host kinds
  std::string why_not;  // why peers cannot map it, "" if they can
};

// Classifies [address, address + bytes), bytes > 0. Host memory is no error: it is an answer.
// PURLIN_INVALID_ARGUMENT: the range is not wholly mapped, or lies on another device than `device`
// (both are named).
Result<BufferOrigin> origin_of(const CudaDevice& device, const void* address, uint64_t bytes);

// A number for the physical memory behind an address, never reused in the process: if it changes,
// the memory was freed and something else lies there now. 0 for host memory. One driver call.
Result<uint64_t> memory_id_of(const CudaDevice& device, const void* address);

}  // namespace purlin
