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

}  // namespace

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

namespace {

namespace entry {
#define PURLIN_DRIVER_CALL(name, symbol, version, parameters, names)            \
  cu::Code name parameters {                                                    \
    if (state().before) state().before(#symbol);                                \
    const std::lock_guard lock(state().mutex);                                  \
    if (const cu::Code code = gate(#symbol); code != cu::kSuccess) return code; \
    return impl::name names;                                                    \
  }
#include "device/driver_calls.inc"
#undef PURLIN_DRIVER_CALL
}  // namespace entry

constexpr int kMulticastVersion = 12010;

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
  void* const multicast = state().setup.hidden_call == symbol ? nullptr : multicast_call(symbol);
  if (multicast != nullptr) {
    *status = version >= kMulticastVersion ? 0 : 2;
    if (*status == 0) *out = multicast;
  }
  return purlin::cu::kSuccess;
}
