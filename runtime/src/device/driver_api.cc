#include "device/driver_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "device/driver_advice.h"

namespace purlin {
namespace {

using GetProcAddress = cu::Code (*)(const char*, void**, int, uint64_t, int*);

constexpr uint64_t kLegacyStreamSymbols = 1;

#ifdef PURLIN_CUDA_TOOLKIT
constexpr const char* kToolkit = PURLIN_CUDA_TOOLKIT;
#else
constexpr const char* kToolkit = "";
#endif

}  // namespace

Result<std::unique_ptr<const DriverApi>> DriverApi::open(const std::string& library) {
  std::unique_ptr<DriverApi> api(new DriverApi());
  PURLIN_RETURN_IF_ERROR(api->load(library));
  return std::unique_ptr<const DriverApi>(std::move(api));
}

void* DriverApi::find(const char* symbol, int version) const {
  void* found = nullptr;
  int status = 0;
  const auto get = reinterpret_cast<GetProcAddress>(get_proc_address_);
  const cu::Code code = get(symbol, &found, version, kLegacyStreamSymbols, &status);
  return code == cu::kSuccess ? found : nullptr;
}

Status DriverApi::load(const std::string& library) {
  library_ = library;
  handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    const char* reason = dlerror();
    return {PURLIN_UNSUPPORTED,
            fmt::format("the CUDA driver cannot be opened: {}. Install the NVIDIA driver ({}), or "
                        "create the communicator on the host device",
                        reason == nullptr ? "dlopen gave no reason" : reason,
                        driver_requirement(kToolkit, kOldestVersion))};
  }
  const auto get_version =
      reinterpret_cast<cu::Code (*)(int*)>(dlsym(handle_, "cuDriverGetVersion"));
  if (get_version == nullptr || get_version(&version_) != cu::kSuccess) {
    return {PURLIN_UNSUPPORTED,
            fmt::format("{} is not a CUDA driver: cuDriverGetVersion is missing or fails. Point "
                        "the loader at the NVIDIA driver's libcuda.so.1 ({})",
                        library, driver_requirement(kToolkit, kOldestVersion))};
  }
  PURLIN_RETURN_IF_ERROR(check_driver_version(version_, kToolkit, kOldestVersion));
  get_proc_address_ = dlsym(handle_, "cuGetProcAddress_v2");
  if (get_proc_address_ == nullptr) {
    return {PURLIN_UNSUPPORTED,
            fmt::format("{} serves CUDA {} but lacks cuGetProcAddress_v2; the driver's "
                        "installation is damaged: reinstall it",
                        library, version_text(version_))};
  }
#define PURLIN_DRIVER_CALL(name, symbol, version, parameters, names)                        \
  table_.name = reinterpret_cast<cu::Code(*) parameters>(find(#symbol, version));           \
  if (table_.name == nullptr) {                                                             \
    return {PURLIN_UNSUPPORTED,                                                             \
            fmt::format("{} serves CUDA {} but has no {} of CUDA {}; reinstall the driver " \
                        "({})",                                                             \
                        library, version_text(version_), #symbol, version_text(version),    \
                        driver_requirement(kToolkit, kOldestVersion))};                     \
  }
#include "device/driver_calls.inc"
#undef PURLIN_DRIVER_CALL
  int count = 0;
  was_running_ = table_.device_get_count(&count) != cu::kNotInitialized;
  return init(0);
}

Status DriverApi::error(const char* call, cu::Code code) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (table_.get_error_name(code, &name) != cu::kSuccess) name = nullptr;
  if (table_.get_error_string(code, &text) != cu::kSuccess) text = nullptr;
  return {code == cu::kOutOfMemory ? PURLIN_OUT_OF_MEMORY : PURLIN_CUDA_ERROR,
          fmt::format("{} failed: {} ({}, code {}). {}", call,
                      name == nullptr ? "an error unknown to this driver" : name,
                      text == nullptr ? "no text" : text, code, advice(code))};
}

Result<const DriverApi*> driver() {
  static const Result<std::unique_ptr<const DriverApi>>* const opened = [] {
    const char* named = secure_getenv("PURLIN_CUDA_DRIVER");
    return new Result<std::unique_ptr<const DriverApi>>(
        DriverApi::open(named != nullptr && *named != '\0' ? named : "libcuda.so.1"));
  }();
  if (!opened->is_ok()) return opened->status();
  return opened->value().get();
}

}  // namespace purlin
