#include "device/multicast_api.h"

#include <fmt/format.h>

#include <atomic>

#include "policy/overrides.h"

namespace purlin {
namespace {

constexpr int kMulticastVersion = 12010;
std::atomic<uint64_t> calls_made = 0;

}  // namespace

std::string multicast_forbidden_by() {
  return policy::nvls_off_switch(policy::process_environment()).value_or("");
}

uint64_t MulticastApi::calls() { return calls_made.load(); }

template <class Function, class... Arguments>
Status MulticastApi::call(const char* name, Function function, Arguments... arguments) {
  last_ = cu::kSuccess;
  // Asked again at each call: the switch may be set after the functions were found.
  if (const std::string forbidden = multicast_forbidden_by(); !forbidden.empty()) {
    return {PURLIN_UNSUPPORTED,
            fmt::format("{} is not called: {} forbids multicast in this process", name, forbidden)};
  }
  return call_allowed(name, function, arguments...);
}

template <class Function, class... Arguments>
Status MulticastApi::call_allowed(const char* name, Function function, Arguments... arguments) {
  ++calls_made;
  last_ = function(arguments...);
  return api_.check(name, last_);
}

Result<std::unique_ptr<MulticastApi>> MulticastApi::open(const DriverApi& api) {
  if (const std::string forbidden = multicast_forbidden_by(); !forbidden.empty()) {
    return Status(
        PURLIN_UNSUPPORTED,
        fmt::format("switch multicast is forbidden by {}. Unset it to allow NVLS, or choose "
                    "reduction: score",
                    forbidden));
  }
  std::unique_ptr<MulticastApi> multicast(new MulticastApi(api));
  const auto resolve = [&](auto& slot, const char* name) {
    slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(
        api.find(name, kMulticastVersion));
    return slot != nullptr;
  };
  if (!resolve(multicast->create_, "cuMulticastCreate") ||
      !resolve(multicast->add_device_, "cuMulticastAddDevice") ||
      !resolve(multicast->bind_mem_, "cuMulticastBindMem") ||
      !resolve(multicast->unbind_, "cuMulticastUnbind") ||
      !resolve(multicast->get_granularity_, "cuMulticastGetGranularity")) {
    return Status(
        PURLIN_UNSUPPORTED,
        fmt::format("{} has no multicast calls. Use a newer driver, or choose reduction: score",
                    api.library()));
  }
  return multicast;
}

Status MulticastApi::create(cu::MemHandle* out, const cu::MulticastProp* prop) {
  return call("cuMulticastCreate", create_, out, prop);
}

Status MulticastApi::add_device(cu::MemHandle object, cu::Device device) {
  return call("cuMulticastAddDevice", add_device_, object, device);
}

Status MulticastApi::bind_mem(cu::MemHandle object, size_t object_offset, cu::MemHandle memory,
                              size_t memory_offset, size_t bytes) {
  return call("cuMulticastBindMem", bind_mem_, object, object_offset, memory, memory_offset, bytes,
              0ull);
}

Status MulticastApi::unbind(cu::MemHandle object, cu::Device device, size_t offset, size_t bytes) {
  return call_allowed("cuMulticastUnbind", unbind_, object, device, offset, bytes);
}

Status MulticastApi::get_granularity(size_t* out, const cu::MulticastProp* prop, int option) {
  return call("cuMulticastGetGranularity", get_granularity_, out, prop, option);
}

}  // namespace purlin
