// What a driver's library exports, and the gate that each call passes.
#include <cstring>

#include "gpu/fake/state.h"

namespace purlin::test::fake {
namespace {

// Calls that work before cuInit.
bool needs_init(const char* symbol) {
  for (const char* free : {"cuInit", "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString"}) {
    if (std::strcmp(symbol, free) == 0) return false;
  }
  return true;
}

cu::Code gate(const char* symbol) {
  State& s = state();
  ++s.calls[symbol];
  if (needs_init(symbol) && !s.initialized) return cu::kNotInitialized;
  std::vector<std::pair<int, cu::Code>>& failures = s.failures[symbol];
  for (auto each = failures.begin(); each != failures.end(); ++each) {
    if (each->first-- > 0) continue;
    const cu::Code code = each->second;
    failures.erase(each);
    return code;
  }
  return cu::kSuccess;
}

namespace entry {
#define PURLIN_DRIVER_CALL(name, symbol, version, parameters, names)            \
  cu::Code name parameters {                                                    \
    const std::lock_guard lock(state().mutex);                                  \
    if (const cu::Code code = gate(#symbol); code != cu::kSuccess) return code; \
    return impl::name names;                                                    \
  }
#include "device/driver_calls.inc"
#undef PURLIN_DRIVER_CALL
}  // namespace entry

// Multicast: objects without a switch behind them. Counted like all calls.
cu::Code multicast_create(cu::MemHandle* out, const cu::MulticastProp*) {
  const std::lock_guard lock(state().mutex);
  if (const cu::Code code = gate("cuMulticastCreate"); code != cu::kSuccess) return code;
  *out = 0xfeed0000 + state().next_id++;
  return cu::kSuccess;
}
cu::Code multicast_add_device(cu::MemHandle, cu::Device) {
  const std::lock_guard lock(state().mutex);
  return gate("cuMulticastAddDevice");
}
cu::Code multicast_bind_mem(cu::MemHandle, size_t, cu::MemHandle, size_t, size_t,
                            unsigned long long) {
  const std::lock_guard lock(state().mutex);
  return gate("cuMulticastBindMem");
}
cu::Code multicast_unbind(cu::MemHandle, cu::Device, size_t, size_t) {
  const std::lock_guard lock(state().mutex);
  return gate("cuMulticastUnbind");
}
cu::Code multicast_get_granularity(size_t* out, const cu::MulticastProp*, int) {
  const std::lock_guard lock(state().mutex);
  *out = 2 << 20;
  return gate("cuMulticastGetGranularity");
}

struct Offered {
  const char* symbol;
  int version;
  void* function;
};

const Offered kOffered[] = {
#define PURLIN_DRIVER_CALL(name, symbol, version, parameters, names) \
  {#symbol, version, reinterpret_cast<void*>(&entry::name)},
#include "device/driver_calls.inc"
#undef PURLIN_DRIVER_CALL
    {"cuMulticastCreate", 12010, reinterpret_cast<void*>(&multicast_create)},
    {"cuMulticastAddDevice", 12010, reinterpret_cast<void*>(&multicast_add_device)},
    {"cuMulticastBindMem", 12010, reinterpret_cast<void*>(&multicast_bind_mem)},
    {"cuMulticastUnbind", 12010, reinterpret_cast<void*>(&multicast_unbind)},
    {"cuMulticastGetGranularity", 12010, reinterpret_cast<void*>(&multicast_get_granularity)},
};

}  // namespace
}  // namespace purlin::test::fake

extern "C" __attribute__((visibility("default"))) purlin::cu::Code cuDriverGetVersion(int* out) {
  return purlin::test::fake::entry::driver_get_version(out);
}

extern "C" __attribute__((visibility("default"))) purlin::cu::Code cuGetProcAddress_v2(
    const char* symbol, void** out, int version, uint64_t, int* status) {
  using namespace purlin::test::fake;
  *out = nullptr;
  *status = 1;
  const std::lock_guard lock(state().mutex);
  if (version > state().setup.driver_version) return purlin::cu::kInvalidValue;
  for (const Offered& offered : kOffered) {
    if (std::strcmp(offered.symbol, symbol) != 0 || state().setup.hidden_call == symbol) continue;
    *status = offered.version <= version ? 0 : 2;
    if (*status == 0) *out = offered.function;
  }
  return purlin::cu::kSuccess;
}
