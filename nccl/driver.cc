#include "nccl/driver.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "nccl/errors.h"

namespace purlin::nccl {
namespace {

// Of the driver's interface, in its own types' sizes: results and devices are int, handles
// pointers.
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*context)(void**) = nullptr;
  int (*set_context)(void*) = nullptr;
  int (*device)(int*) = nullptr;
  int (*device_at)(int*, int) = nullptr;
  int (*primary_context)(void**, int) = nullptr;
  int (*capture_status)(Stream, int*) = nullptr;
  int (*copy_to_host)(void*, uint64_t, size_t, Stream) = nullptr;
  int (*wait)(Stream) = nullptr;
  bool usable = false;
};

template <class F>
bool look_up(void* library, const char* name, F* function) {
  *function = reinterpret_cast<F>(dlsym(library, name));
  return *function != nullptr;
}

const Driver& driver() {
  static const Driver instance = [] {
    Driver d;
    const char* name = std::getenv("PURLIN_CUDA_DRIVER");  // as libpurlin does
    void* library = dlopen(name != nullptr ? name : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return d;
    d.usable = look_up(library, "cuInit", &d.init) &&
               look_up(library, "cuCtxGetCurrent", &d.context) &&
               look_up(library, "cuCtxSetCurrent", &d.set_context) &&
               look_up(library, "cuCtxGetDevice", &d.device) &&
               look_up(library, "cuDeviceGet", &d.device_at) &&
               look_up(library, "cuDevicePrimaryCtxRetain", &d.primary_context) &&
               look_up(library, "cuStreamIsCapturing", &d.capture_status) &&
               look_up(library, "cuMemcpyDtoHAsync_v2", &d.copy_to_host) &&
               look_up(library, "cuStreamSynchronize", &d.wait) && d.init(0) == 0;
    return d;
  }();
  return instance;
}

}  // namespace

CurrentDevice current_device() {
  CurrentDevice current;
  const Driver& d = driver();
  if (!d.usable) return current;
  current.ordinal = 0;
  if (d.context(&current.context) != 0 || current.context == nullptr) return current;
  if (d.device(&current.ordinal) != 0) current.ordinal = 0;
  return current;
}

void enter(void* context) {
  if (context != nullptr && driver().usable) static_cast<void>(driver().set_context(context));
}

void* primary_context(int ordinal) {
  const Driver& d = driver();
  int device = 0;
  void* context = nullptr;
  if (!d.usable || d.device_at(&device, ordinal) != 0) return nullptr;
  return d.primary_context(&context, device) == 0 ? context : nullptr;
}

Result read_after(Stream stream, const void* address, size_t bytes, uint64_t* bits) {
  *bits = 0;
  const Driver& d = driver();
  if (!d.usable)
    return fail(kUnhandledCudaError,
                "a scalar in device memory was asked for, and there is no CUDA driver");
  int capturing = 0;
  if (d.capture_status(stream, &capturing) != 0 || capturing != 0)
    return fail(kInvalidUsage,
                "a pre-multiplied sum whose scalar lies in device memory cannot be captured: the "
                "scalar is read when the call is made; create the operation with a scalar in host "
                "memory (ncclScalarHostImmediate)");
  int code = d.copy_to_host(bits, reinterpret_cast<uint64_t>(address), bytes, stream);
  if (code == 0) code = d.wait(stream);
  if (code == 0) return kSuccess;
  return fail(kUnhandledCudaError,
              "reading the scalar of a pre-multiplied sum from device memory: the "
              "driver returned " +
                  std::to_string(code));
}

bool host_ranks() {
  const char* value = std::getenv("PURLIN_NCCL_DEVICE");
  return value != nullptr && std::strcmp(value, "host") == 0;
}

Result check_device_variable() {
  const char* value = std::getenv("PURLIN_NCCL_DEVICE");
  if (value == nullptr || *value == 0 || host_ranks()) return kSuccess;
  return fail(kInvalidUsage, std::string("PURLIN_NCCL_DEVICE is \"") + value +
                                 "\"; set it to host for CPU ranks, or unset it for GPUs");
}

}  // namespace purlin::nccl
