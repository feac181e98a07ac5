#include "device/multicast_api.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>

namespace purlin {
namespace {

constexpr int kMulticastVersion = 12010;
std::atomic<uint64_t> calls_made = 0;

// A variable and whether it forbids by being zero (…_ENABLE) or by being anything else
// (…_DISABLE…).
struct Switch {
  const char* name;
  bool off_when_zero;
};
constexpr Switch kSwitches[] = {{"PURLIN_NVLS_ENABLE", true},
                                {"NCCL_NVLS_ENABLE", true},
                                {"TORCH_SYMM_MEM_DISABLE_MULTICAST", false},
                                {"NVSHMEM_DISABLE_NVLS", false}};

}  // namespace

std::string multicast_forbidden_by() {
  for (const Switch& each : kSwitches) {
    const char* value = std::getenv(each.name);
    if (value == nullptr || *value == '\0') continue;
    const bool zero = std::string(value) == "0";
    if (zero == each.off_when_zero) return fmt::format("{}={}", each.name, value);
  }
  return "";
}

uint64_t MulticastApi::calls() { return calls_made.load(); }

template <class Function, class... Arguments>
Status MulticastApi::call(const char* name, Function function, Arguments... arguments) {
  // Asked again at each call: the switch may be set after the functions were found.
  if (const std::string forbidden = multicast_forbidden_by(); !forbidden.empty()) {
    return {PURLIN_UNSUPPORTED,
            fmt::format("{} is not called: {} forbids multicast in this process", name, forbidden)};
  }
  ++calls_made;
  return api_.check(name, function(arguments...));
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
  return call("cuMulticastUnbind", unbind_, object, device, offset, bytes);
}

Status MulticastApi::get_granularity(size_t* out, const cu::MulticastProp* prop, int option) {
  return call("cuMulticastGetGranularity", get_granularity_, out, prop, option);
}

}  // namespace purlin
