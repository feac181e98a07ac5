// Driver calls for switch multicast (NVLS), apart from all others and behind an off-switch.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "device/driver_api.h"

namespace purlin {

// The off-switch set in the environment (policy::nvls_off_switch), as "NAME=value"; "" if none is.
std::string multicast_forbidden_by();

// Resolved only on demand, and refused while an off-switch is set; so nothing in a process that
// forbids multicast can reach these calls, but for `unbind`, which gives back what was bound before the
// switch was set. One thread at a time.
class MulticastApi {
 public:
  // PURLIN_UNSUPPORTED: forbidden (names the variable), or the driver lacks the calls.
  static Result<std::unique_ptr<MulticastApi>> open(const DriverApi& api);

  [[nodiscard]] Status create(cu::MemHandle* out, const cu::MulticastProp* prop);
  [[nodiscard]] Status add_device(cu::MemHandle object, cu::Device device);
  [[nodiscard]] Status bind_mem(cu::MemHandle object, size_t object_offset, cu::MemHandle memory,
                                size_t memory_offset, size_t bytes);
  [[nodiscard]] Status unbind(cu::MemHandle object, cu::Device device, size_t offset, size_t bytes);
  [[nodiscard]] Status get_granularity(size_t* out, const cu::MulticastProp* prop, int option);

  // Whether the last call failed because the driver or the fabric is not ready yet.
  bool not_ready() const { return last_ == cu::kNotReady || last_ == cu::kSystemNotReady; }

  // Calls made through any MulticastApi of this process.
  static uint64_t calls();

 private:
  explicit MulticastApi(const DriverApi& api) : api_(api) {}
  template <class Function, class... Arguments>
  Status call_allowed(const char* name, Function function, Arguments... arguments);
  template <class Function, class... Arguments>
  Status call(const char* name, Function function, Arguments... arguments);

  const DriverApi& api_;
  cu::Code last_ = cu::kSuccess;
  cu::Code (*create_)(cu::MemHandle*, const cu::MulticastProp*) = nullptr;
  cu::Code (*add_device_)(cu::MemHandle, cu::Device) = nullptr;
  cu::Code (*bind_mem_)(cu::MemHandle, size_t, cu::MemHandle, size_t, size_t,
                        unsigned long long) = nullptr;
  cu::Code (*unbind_)(cu::MemHandle, cu::Device, size_t, size_t) = nullptr;
  cu::Code (*get_granularity_)(size_t*, const cu::MulticastProp*, int) = nullptr;
};

}  // namespace purlin
