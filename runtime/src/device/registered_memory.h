// Host memory of the process made reachable for kernels.
#pragma once

#include <cstdint>
#include <memory>

#include "device/cuda_device.h"

namespace purlin {

// A registration of [host, host + bytes), which lies in whole pages and outlives it. Shared memory may
// be registered by every process that maps it. Kernels of `device` read and write it with
// system-scope accesses at device_address(). Owns the registration alone; movable.
class RegisteredMemory {
 public:
  RegisteredMemory() = default;
  // PURLIN_CUDA_ERROR names the bytes and the device.
  static Result<RegisteredMemory> create(std::shared_ptr<const CudaDevice> device, void* host,
                                         uint64_t bytes);
  RegisteredMemory(RegisteredMemory&& other) noexcept;
  RegisteredMemory& operator=(RegisteredMemory&& other) noexcept;
  ~RegisteredMemory();

  cu::DevicePtr device_address() const { return device_address_; }

 private:
  void destroy();

  std::shared_ptr<const CudaDevice> device_;
  void* host_ = nullptr;
  cu::DevicePtr device_address_ = 0;
};

}  // namespace purlin
