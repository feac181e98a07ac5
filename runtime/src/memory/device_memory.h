// Device memory of this rank that other ranks can map: staging, flags, and purlin_mem_alloc.
#pragma once

#include "memory/mapped_range.h"
#include "memory/owned_fd.h"

namespace purlin {

// A zeroed allocation made through the driver's virtual memory management, exportable as a file
// descriptor. Movable, not thread-safe. See MappedRange for the order of release.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  // `bytes` > 0, rounded up to the granularity. `what` names it in messages. The memory is zero
  // when this returns. Safe while other threads capture streams. PURLIN_OUT_OF_MEMORY says how much
  // was asked for, on which device and for what.
  static Result<DeviceMemory> create(std::shared_ptr<const CudaDevice> device, uint64_t bytes,
                                     const std::string& what);

  cu::DevicePtr address() const { return range_.address(); }
  void* data() const { return reinterpret_cast<void*>(range_.address()); }
  uint64_t bytes() const { return bytes_; }  // as asked
  // What is really mapped; a peer needs this number to import.
  uint64_t mapped_bytes() const { return range_.bytes(); }
  const std::shared_ptr<const CudaDevice>& device() const { return range_.device(); }
  explicit operator bool() const { return static_cast<bool>(range_); }

  // A descriptor for a peer process (or for this one); each call makes a new one.
  Result<OwnedFd> export_fd() const;
  cu::MemHandle handle() const { return range_.pieces().front().handle; }
  Status release() { return range_.release(); }

 private:
  Status zero() const;

  MappedRange range_;
  uint64_t bytes_ = 0;
};

}  // namespace purlin
