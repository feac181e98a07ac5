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
  // One buffer for each arena of the shape. With `registered`, which then outlives them, they are
  // registered with that communicator: every rank of it makes its own at the same time.
  static Outcome<RankMemory> make(const RankShape& shape, uint64_t element_bytes, uint64_t misalign,
                                  RankDevice& device, purlin_comm_t registered);
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
  RankMemory(uint64_t element_bytes, RankDevice& device, purlin_comm_t registered)
      : element_bytes_(element_bytes), device_(&device), registered_(registered) {}

  Done add(const Arena& arena, uint64_t misalign);
  Done add_copy(uint64_t bytes);

  uint64_t element_bytes_;
  RankDevice* device_;
  purlin_comm_t registered_;
  std::vector<GuardedBuffer> images_;
  std::vector<unsigned char*> copies_;  // with separate memory, of whole blocks
  std::vector<purlin_registration_t> registrations_;
};

}  // namespace purlin::tools
