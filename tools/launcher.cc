#include "tools/launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace purlin::tools {
namespace {

constexpr int kMultiprocessors = 16, kMajor = 75, kMinor = 76, kMostShared = 97;  // attributes
constexpr int kMaxDynamicShared = 8;  // CU_FUNC_ATTRIBUTE_…
constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
constexpr int kAccessEnabled = 704;   // CUDA_ERROR_PEER_ACCESS_ALREADY_…

// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  CudaHandle stream;
  void* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(LaunchConfig) == 56);

}  // namespace

// Name here, name in the driver, parameters as of CUDA 12.4.
#define PURLIN_LAUNCH_CALLS(CALL)                                                             \
  CALL(attribute, cuDeviceGetAttribute, (int* value, int attribute, int device))              \
  CALL(enable_peer, cuCtxEnablePeerAccess, (CudaHandle context, unsigned flags))              \
  CALL(library_load, cuLibraryLoadData,                                                       \
       (CudaHandle * library, const void* image, int* options, void** values, unsigned count, \
        int* library_options, void** library_values, unsigned library_count))                 \
  CALL(library_unload, cuLibraryUnload, (CudaHandle library))                                 \
  CALL(library_kernel, cuLibraryGetKernel,                                                    \
       (CudaHandle * kernel, CudaHandle library, const char* name))                           \
  CALL(kernel_function, cuKernelGetFunction, (CudaHandle * function, CudaHandle kernel))      \
  CALL(function_set, cuFuncSetAttribute, (CudaHandle function, int attribute, int value))     \
  CALL(launch, cuLaunchKernelEx,                                                              \
       (const LaunchConfig* config, CudaHandle function, void** parameters, void** extra))

struct Launcher::Calls {
#define CALL(name, symbol, parameters) int(*name) parameters = nullptr;
  PURLIN_LAUNCH_CALLS(CALL)
#undef CALL
};

struct Launcher::Held {
  int device = 0, peer_device = 0;
  CudaHandle context = nullptr, peer_context = nullptr, stream = nullptr;
  std::vector<CudaAddress> memory;
  std::vector<CudaHandle> libraries, events;
};

Launcher::Launcher(const CudaDriver& driver)
    : driver_(driver), calls_(std::make_unique<Calls>()), held_(std::make_unique<Held>()) {}

Outcome<std::unique_ptr<Launcher>> Launcher::open(const CudaDriver& driver, int device, int peer) {
  for (const int ordinal : {device, peer})
    if (ordinal >= driver.devices())
      return Error{fmt::format("GPU {} was asked for; there are {}", ordinal, driver.devices())};
  std::unique_ptr<Launcher> launcher(new Launcher(driver));
  if (Done started = launcher->start(device, peer); !started) return Error{started.error()};
  return launcher;
}

Done Launcher::start(int device, int peer) {
#define CALL(name, symbol, parameters)                                            \
  calls_->name = reinterpret_cast<decltype(calls_->name)>(driver_.find(#symbol)); \
  if (calls_->name == nullptr)                                                    \
    return Error{fmt::format("the CUDA driver has no {}; update it", #symbol)};
  PURLIN_LAUNCH_CALLS(CALL)
#undef CALL
  Held& h = *held_;
  const auto check = [&](const char* what, int code) { return driver_.check(what, code); };
  if (peer >= 0) {
    Done retained = check("cuDeviceGet", driver_.device_get(&h.peer_device, peer));
    if (retained)
      retained =
          check("cuDevicePrimaryCtxRetain", driver_.context_retain(&h.peer_context, h.peer_device));
    if (!retained) return retained;
  }
  if (Done got = check("cuDeviceGet", driver_.device_get(&h.device, device)); !got) return got;
  if (Done retained =
          check("cuDevicePrimaryCtxRetain", driver_.context_retain(&h.context, h.device));
      !retained)
    return retained;
  if (Done current = check("cuCtxSetCurrent", driver_.context_set(h.context)); !current)
    return current;
  if (h.peer_context) {
    const int code = calls_->enable_peer(h.peer_context, 0);
    if (code != kAccessEnabled)
      if (Done enabled = check("cuCtxEnablePeerAccess", code); !enabled) return enabled;
  }
  if (Done made = check("cuStreamCreate", driver_.stream_create(&h.stream, kNonBlocking)); !made)
    return made;
  for (int i = 0; i < 2; ++i) {
    CudaHandle event = nullptr;
    if (Done made = check("cuEventCreate", driver_.event_create(&event, 0)); !made) return made;
    h.events.push_back(event);
  }
  char name[128] = {};
  int major = 0, minor = 0, count = 0, shared = 0;
  for (const auto& [what, code] :
       {std::pair{"cuDeviceGetName", driver_.device_name(name, sizeof name, h.device)},
        std::pair{"cuDeviceGetAttribute", calls_->attribute(&major, kMajor, h.device)},
        std::pair{"cuDeviceGetAttribute", calls_->attribute(&minor, kMinor, h.device)},
        std::pair{"cuDeviceGetAttribute", calls_->attribute(&count, kMultiprocessors, h.device)},
        std::pair{"cuDeviceGetAttribute", calls_->attribute(&shared, kMostShared, h.device)}})
    if (Done read = check(what, code); !read) return read;
  name_ = name;
  architecture_ = fmt::format("sm_{}", 10 * major + minor);
  multiprocessors_ = static_cast<unsigned>(count);
  most_shared_bytes_ = static_cast<unsigned>(shared);
  return done();
}

Launcher::~Launcher() {
  Held& h = *held_;
  if (h.stream) driver_.stream_synchronize(h.stream);
  for (CudaHandle library : h.libraries) calls_->library_unload(library);
  for (CudaAddress address : h.memory) driver_.memory_free(address);
  for (CudaHandle event : h.events) driver_.event_destroy(event);
  if (h.stream) driver_.stream_destroy(h.stream);
  if (h.context) driver_.context_release(h.device);
  if (h.peer_context) driver_.context_release(h.peer_device);
}

Outcome<CudaAddress> Launcher::allocate(uint64_t bytes, bool on_peer) {
  CudaAddress address = 0;
  const bool elsewhere = on_peer && held_->peer_context;
  if (elsewhere) driver_.context_set(held_->peer_context);
  const Done made = driver_.check(fmt::format("cuMemAlloc of {} bytes", bytes).c_str(),
                                  driver_.memory_alloc(&address, bytes));
  if (elsewhere) driver_.context_set(held_->context);
  if (!made) return Error{made.error()};
  held_->memory.push_back(address);
  return address;
}

void Launcher::release(CudaAddress address) {
  std::erase(held_->memory, address);
  driver_.memory_free(address);
}

Done Launcher::copy_in(CudaAddress to, const void* from, uint64_t bytes) {
  if (Done copied = driver_.check("cuMemcpyHtoD", driver_.copy_in(to, from, bytes, held_->stream));
      !copied)
    return copied;
  return driver_.check("cuStreamSynchronize", driver_.stream_synchronize(held_->stream));
}

Done Launcher::copy_out(void* to, CudaAddress from, uint64_t bytes) {
  if (Done copied = driver_.check("cuMemcpyDtoH", driver_.copy_out(to, from, bytes, held_->stream));
      !copied)
    return copied;
  return driver_.check("cuStreamSynchronize", driver_.stream_synchronize(held_->stream));
}

Outcome<CudaHandle> Launcher::load(const void* cubin) {
  CudaHandle library = nullptr;
  const int code = calls_->library_load(&library, cubin, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (Done loaded = driver_.check("cuLibraryLoadData", code); !loaded) return Error{loaded.error()};
  held_->libraries.push_back(library);
  return library;
}

// The function of a kernel, allowed as much shared memory as the grid asks for.
Outcome<CudaHandle> Launcher::prepared(CudaHandle program, const Grid& grid) {
  CudaHandle kernel = nullptr, function = nullptr;
  Done step =
      driver_.check("cuLibraryGetKernel", calls_->library_kernel(&kernel, program, grid.kernel));
  if (step) step = driver_.check("cuKernelGetFunction", calls_->kernel_function(&function, kernel));
  if (step)
    step = driver_.check(
        "cuFuncSetAttribute",
        calls_->function_set(function, kMaxDynamicShared, static_cast<int>(grid.shared_bytes)));
  if (!step) return Error{step.error()};
  return function;
}

Done Launcher::launch_prepared(CudaHandle function, const Grid& grid, const void* argument) {
  const LaunchConfig config{grid.ctas,     1,       1, grid.threads, 1, 1, grid.shared_bytes,
                            held_->stream, nullptr, 0};
  void* arguments[] = {const_cast<void*>(argument)};  // the driver reads it
  return driver_.check(fmt::format("the launch of {}", grid.kernel).c_str(),
                       calls_->launch(&config, function, arguments, nullptr));
}

Done Launcher::launch(CudaHandle program, const Grid& grid, const void* argument) {
  const auto function = prepared(program, grid);
  if (!function) return Error{function.error()};
  return launch_prepared(*function, grid, argument);
}

Done Launcher::finish() {
  return driver_.check("cuStreamSynchronize", driver_.stream_synchronize(held_->stream));
}

Outcome<double> Launcher::time(CudaHandle program, const Grid& grid, const void* argument,
                               unsigned count) {
  const auto function = prepared(program, grid);
  if (!function) return Error{function.error()};
  const auto launch = [&] { return launch_prepared(*function, grid, argument); };
  Done step = launch();
  std::vector<double> samples;
  for (unsigned i = 0; step && i < count; ++i) {
    float milliseconds = 0;
    const auto& events = held_->events;
    step = driver_.check("cuEventRecord", driver_.event_record(events[0], held_->stream));
    if (step) step = launch();
    if (step) step = driver_.check("cuEventRecord", driver_.event_record(events[1], held_->stream));
    if (step) step = finish();
    if (step)
      step = driver_.check("cuEventElapsedTime",
                           driver_.event_elapsed(&milliseconds, events[0], events[1]));
    samples.push_back(1000.0 * static_cast<double>(milliseconds));
  }
  if (!step) return Error{step.error()};
  std::nth_element(samples.begin(), samples.begin() + static_cast<long>(samples.size() / 2),
                   samples.end());
  return samples[samples.size() / 2];
}

}  // namespace purlin::tools
