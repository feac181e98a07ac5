#include "tools/empty_kernel.h"

#include <fmt/format.h>

namespace purlin::tools {
namespace {

// The driver compiles it, so that measuring a launch needs neither linker nor Atom.
constexpr const char* kName = "purlin_empty";
constexpr const char* kSource =
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry purlin_empty() { ret; }\n";

struct LaunchConfig {  // CUlaunchConfig
  unsigned grid[3], block[3], shared_bytes;
  CudaHandle stream;
  void* attributes;
  unsigned attribute_count;
};

}  // namespace

// Name here, name in the driver, parameters as of CUDA 12.4.
#define PURLIN_EMPTY_KERNEL_CALLS(CALL)                                                           \
  CALL(library_load, cuLibraryLoadData,                                                           \
       (CudaHandle * library, const void* image, int* jit, void** jit_values, unsigned jit_count, \
        int* options, void** values, unsigned count))                                             \
  CALL(library_unload, cuLibraryUnload, (CudaHandle library))                                     \
  CALL(library_kernel, cuLibraryGetKernel,                                                        \
       (CudaHandle * kernel, CudaHandle library, const char* name))                               \
  CALL(kernel_function, cuKernelGetFunction, (CudaHandle * function, CudaHandle kernel))          \
  CALL(launch, cuLaunchKernelEx,                                                                  \
       (const LaunchConfig* config, CudaHandle function, void** parameters, void** extra))

struct EmptyKernel::Calls {
#define CALL(name, symbol, parameters) int(*name) parameters = nullptr;
  PURLIN_EMPTY_KERNEL_CALLS(CALL)
#undef CALL
};

EmptyKernel::EmptyKernel(const CudaDriver& driver)
    : driver_(driver), calls_(std::make_unique<Calls>()) {}

Outcome<std::unique_ptr<EmptyKernel>> EmptyKernel::load(const CudaDriver& driver) {
  std::unique_ptr<EmptyKernel> kernel(new EmptyKernel(driver));
  if (Done started = kernel->start(); !started) return Error{started.error()};
  return kernel;
}

Done EmptyKernel::start() {
#define CALL(name, symbol, parameters)                                            \
  calls_->name = reinterpret_cast<decltype(calls_->name)>(driver_.find(#symbol)); \
  if (calls_->name == nullptr)                                                    \
    return Error{fmt::format("the CUDA driver has no {}; update it", #symbol)};
  PURLIN_EMPTY_KERNEL_CALLS(CALL)
#undef CALL
  Done step = driver_.check(
      "cuLibraryLoadData",
      calls_->library_load(&library_, kSource, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CudaHandle kernel = nullptr;
  if (step)
    step = driver_.check("cuLibraryGetKernel", calls_->library_kernel(&kernel, library_, kName));
  if (step)
    step = driver_.check("cuKernelGetFunction", calls_->kernel_function(&function_, kernel));
  return step;
}

EmptyKernel::~EmptyKernel() {
  if (library_) calls_->library_unload(library_);
}

Done EmptyKernel::enqueue(CudaHandle stream) const {
  const LaunchConfig config = {{1, 1, 1}, {32, 1, 1}, 0, stream, nullptr, 0};
  return driver_.check("cuLaunchKernelEx", calls_->launch(&config, function_, nullptr, nullptr));
}

}  // namespace purlin::tools
