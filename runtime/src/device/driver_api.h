// The CUDA driver, opened at run time: libpurlin loads and serves CPU ranks where no driver exists.
//
// One typed wrapper for each driver call (driver_calls.inc lists them). A wrapper returns a Status:
// PURLIN_OUT_OF_MEMORY for the driver's out-of-memory error, PURLIN_CUDA_ERROR for all others, with
// the call's name, the driver's name and text of the error, and what to do.
//
// Thread safety: a DriverApi is immutable once open; wrappers may be called from any thread.
// Ownership: driver() lives until the process ends, since the driver cannot be unloaded safely.
#pragma once

#include <memory>
#include <string>

#include "device/driver_types.h"
#include "status/status.h"

namespace purlin {

class DriverApi {
 public:
  // The oldest driver that has every call of driver_calls.inc, as CUDA version 1000 * major +
  // 10 * minor.
  static constexpr int kOldestVersion = 12040;

  // Opens the driver's library (default: libcuda.so.1), checks its version against the calls above
  // and the toolkit that this build's device code comes from, and initializes it (cuInit).
  // PURLIN_UNSUPPORTED: no driver, no device, or one too old. Never touches a device.
  static Result<std::unique_ptr<const DriverApi>> open(const std::string& library);

  // 1000 * major + 10 * minor of the CUDA version that the driver serves.
  int version() const { return version_; }
  const std::string& library() const { return library_; }
  // True if the application had started the driver before Purlin did.
  bool was_running() const { return was_running_; }
  // The library's handle for dlsym; never closed.
  void* handle() const { return handle_; }

  // The driver's function of this name and version, or nullptr: for calls outside driver_calls.inc.
  void* find(const char* symbol, int version) const;

  // Success, or the failed call as a Status. For code that calls through raw().
  Status check(const char* call, cu::Code code) const {
    return code == cu::kSuccess ? Status() : error(call, code);
  }

  // Slots of the calls, for those whose result is an answer and not only a failure
  // (cuStreamQuery, cuPointerGetAttributes). Same names as the wrappers.
  struct Table {
#define PURLIN_DRIVER_CALL(name, symbol, version, parameters, names) cu::Code(*name) parameters;
#include "device/driver_calls.inc"
#undef PURLIN_DRIVER_CALL
  };
  const Table& raw() const { return table_; }

#define PURLIN_DRIVER_CALL(name, symbol, version, parameters, names) \
  [[nodiscard]] Status name parameters const { return check(#symbol, table_.name names); }
#include "device/driver_calls.inc"
#undef PURLIN_DRIVER_CALL

 private:
  DriverApi() = default;
  Status error(const char* call, cu::Code code) const;
  Status load(const std::string& library);

  Table table_ = {};
  void* get_proc_address_ = nullptr;
  void* handle_ = nullptr;
  int version_ = 0;
  bool was_running_ = false;
  std::string library_;
};

// The process's driver, opened on first use and kept. The library is libcuda.so.1, or what the
// environment's PURLIN_CUDA_DRIVER names (ignored for set-user-id programs). A failure is kept too:
// every later call returns the same Status.
Result<const DriverApi*> driver();

}  // namespace purlin
