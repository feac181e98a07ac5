#include "tools/cuda_driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

namespace purlin::tools {
namespace {

constexpr int kVersion = 12040;  // of the calls' parameters: 1000 * major + 10 * minor

}  // namespace

Outcome<std::unique_ptr<const CudaDriver>> CudaDriver::open() {
  std::unique_ptr<CudaDriver> driver(new CudaDriver);
  if (Done loaded = driver->load(); !loaded) return Error{loaded.error()};
  return std::unique_ptr<const CudaDriver>(std::move(driver));
}

Done CudaDriver::load() {
  const char* named = std::getenv("PURLIN_CUDA_DRIVER");
  const char* library = named && *named ? named : "libcuda.so.1";
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return Error{fmt::format("there is no CUDA driver: {}; install one", dlerror())};
  get_address_ = reinterpret_cast<decltype(get_address_)>(dlsym(handle, "cuGetProcAddress_v2"));
  const auto set = [&](auto& slot, const char* symbol) {
    slot = reinterpret_cast<std::decay_t<decltype(slot)>>(find(symbol));
    return slot != nullptr;
  };
#define CALL(name, symbol, parameters) \
  if (!set(name, #symbol))             \
    return Error{fmt::format("{} has no {}: the driver is too old; update it", library, #symbol)};
  PURLIN_TOOLS_CUDA_CALLS(CALL)
#undef CALL
  set(error_name_, "cuGetErrorName");
  // Streams of several ranks on one GPU must not share a hardware queue; read when the driver
  // starts.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  if (Done started = check("cuInit", init(0)); !started) return started;
  if (Done counted = check("cuDeviceGetCount", device_count(&devices_)); !counted) return counted;
  if (devices_ == 0) return Error{"the CUDA driver sees no GPU; check CUDA_VISIBLE_DEVICES"};
  return done();
}

void* CudaDriver::find(const char* symbol) const {
  void* address = nullptr;
  int status = 0;
  if (!get_address_ || get_address_(symbol, &address, kVersion, 0, &status) != 0) return nullptr;
  return address;
}

Done CudaDriver::check(const char* what, int code) const {
  if (code == 0) return done();
  const char* name = nullptr;
  if (error_name_) error_name_(code, &name);
  return Error{fmt::format("{} failed with {} ({})", what, name ? name : "an unknown error", code)};
}

}  // namespace purlin::tools
