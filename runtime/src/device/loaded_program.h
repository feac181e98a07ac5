// A finished device program (a cubin) loaded on a GPU, with everything done that the driver would
// otherwise put off to the first launch.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "device/cuda_device.h"

namespace purlin {

// How a program is going to be launched; all in one place since occupancy depends on it.
struct ProgramShape {
  std::string kernel;         // name of the entry in the image
  unsigned threads = 0;       // threads of a CTA
  unsigned shared_bytes = 0;  // dynamic shared memory of a CTA
};

// Immutable once loaded; safe from any thread. Unloads when the last owner goes: launches, graphs
// that hold it included, must have ended by then.
class LoadedProgram {
 public:
  // Loads `image` (whole cubin, need not outlive the call), finds the kernel, loads the function,
  // raises its dynamic shared memory limit and asks its occupancy.
  // PURLIN_UNSUPPORTED: it cannot be launched in this shape, with the figures (threads against the
  // kernel's maximum, shared memory against the device's, or no CTA fits a multiprocessor).
  static Result<std::shared_ptr<const LoadedProgram>> load(std::shared_ptr<const CudaDevice> device,
                                                           std::span<const std::byte> image,
                                                           const ProgramShape& shape);
  ~LoadedProgram();
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  const CudaDevice& device() const { return *device_; }
  cu::Function function() const { return function_; }
  const ProgramShape& shape() const { return shape_; }
  unsigned blocks_per_multiprocessor() const { return blocks_per_multiprocessor_; }
  unsigned registers() const { return registers_; }
  unsigned local_bytes() const { return local_bytes_; }  // spilled registers, per thread
  // The address and size of a __device__ variable of the image.
  Result<std::pair<cu::DevicePtr, size_t>> global(const std::string& name) const;

 private:
  LoadedProgram(std::shared_ptr<const CudaDevice> device, const ProgramShape& shape)
      : device_(std::move(device)), shape_(shape) {}
  Status load_function(std::span<const std::byte> image);
  Status check_threads();
  Status raise_shared_limit();
  Status ask_occupancy();

  std::shared_ptr<const CudaDevice> device_;
  ProgramShape shape_;
  cu::Library library_ = nullptr;
  cu::Function function_ = nullptr;
  unsigned blocks_per_multiprocessor_ = 0;
  unsigned registers_ = 0;
  unsigned local_bytes_ = 0;
};

}  // namespace purlin
