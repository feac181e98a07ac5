// A rank's buffers: guarded images in host memory, and their copies on a device that has memory of
// its own.
#pragma once

#include <vector>

#include "tools/guarded_buffer.h"
#include "tools/rank_device.h"
#include "tools/shape.h"

namespace purlin::tools {

// Move only; `device` outlives it.
class RankMemory {
 public:
  // One buffer for each arena of the shape.
  static Outcome<RankMemory> make(const RankShape& shape, uint64_t element_bytes, uint64_t misalign,
                                  RankDevice& device);
  RankMemory(RankMemory&&) = default;
  RankMemory& operator=(RankMemory&&) = delete;
  ~RankMemory();

  // Filled and judged here; guards included, they are what the device holds after upload().
  std::vector<GuardedBuffer>& images() { return images_; }

  // The address that a call gets; nullptr where there are no buffers.
  unsigned char* address(const Place& place) const;

  Done upload();
  Done download();

 private:
  RankMemory(uint64_t element_bytes, RankDevice& device)
      : element_bytes_(element_bytes), device_(&device) {}

  uint64_t element_bytes_;
  RankDevice* device_;
  std::vector<GuardedBuffer> images_;
  std::vector<unsigned char*> copies_;  // with separate memory, of whole blocks
};

}  // namespace purlin::tools
