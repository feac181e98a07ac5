// A kernel that does nothing: what a launch costs, and what calls are measured behind.
#pragma once

#include <memory>

#include "tools/cuda_driver.h"
#include "tools/outcome.h"

namespace purlin::tools {

// Loaded for the context current at `load`, which outlives it, as the driver does. One thread's.
class EmptyKernel {
 public:
  static Outcome<std::unique_ptr<EmptyKernel>> load(const CudaDriver& driver);
  ~EmptyKernel();
  EmptyKernel(const EmptyKernel&) = delete;
  EmptyKernel& operator=(const EmptyKernel&) = delete;

  // One CTA of a warp.
  Done enqueue(CudaHandle stream) const;

 private:
  explicit EmptyKernel(const CudaDriver& driver);
  Done start();
  struct Calls;

  const CudaDriver& driver_;
  std::unique_ptr<Calls> calls_;
  CudaHandle library_ = nullptr, function_ = nullptr;
};

}  // namespace purlin::tools
