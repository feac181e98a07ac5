// Programs and launches of the fake driver. An image is any bytes; a kernel of any name is found in
// it, unless its name begins with "missing".
#include <algorithm>
#include <cstring>

#include "gpu/fake/state.h"

namespace purlin::test::fake {

size_t run_launch(FakeLaunch launch, void** parameters) {
  State& s = state();
  const size_t id = s.launches.size();
  s.launches.push_back(launch);
  if (s.kernel) s.kernel(launch, parameters);
  return id;
}

namespace impl {
namespace {

constexpr int kRegisters = 32;
constexpr int kMaxThreads = 1024;
constexpr size_t kSharedOfMultiprocessor = 233472;
constexpr size_t kSharedReserved = 1024;

KernelState* kernel_of(const void* handle) {
  for (const auto& [library, each] : state().libraries) {
    for (const auto& [name, kernel] : each->kernels) {
      if (kernel.get() == handle) return kernel.get();
    }
  }
  return nullptr;
}

std::vector<std::vector<char>> copy_parameters(void** parameters) {
  std::vector<std::vector<char>> copies;
  if (parameters == nullptr || state().setup.parameter_bytes == 0) return copies;
  const char* first = static_cast<const char*>(parameters[0]);
  copies.emplace_back(first, first + state().setup.parameter_bytes);
  return copies;
}

}  // namespace

cu::Code library_load_data(cu::Library* out, const void* image, int*, void**, unsigned, int*,
                           void**, unsigned) {
  if (current_device() < 0) return cu::kInvalidContext;
  if (const cu::Code code = forbid_in_capture(); code != cu::kSuccess) return code;
  if (image == nullptr) return cu::kInvalidImage;
  auto made = std::make_unique<LibraryState>();
  *out = reinterpret_cast<cu::Library>(made.get());
  state().libraries[*out] = std::move(made);
  return cu::kSuccess;
}

cu::Code library_unload(cu::Library library) {
  return state().libraries.erase(library) == 1 ? cu::kSuccess : cu::kInvalidHandle;
}

cu::Code library_get_kernel(cu::Kernel* out, cu::Library library, const char* name) {
  const auto found = state().libraries.find(library);
  if (found == state().libraries.end()) return cu::kInvalidHandle;
  if (std::strncmp(name, "missing", 7) == 0) return cu::kNotFound;
  std::unique_ptr<KernelState>& kernel = found->second->kernels[name];
  if (kernel == nullptr) kernel = std::make_unique<KernelState>();
  kernel->name = name;
  *out = reinterpret_cast<cu::Kernel>(kernel.get());
  return cu::kSuccess;
}

cu::Code library_get_global(cu::DevicePtr* out, size_t* bytes, cu::Library library, const char*) {
  if (!state().libraries.contains(library)) return cu::kInvalidHandle;
  static uint64_t variable = 1;
  *out = reinterpret_cast<cu::DevicePtr>(&variable);
  *bytes = sizeof(variable);
  return cu::kSuccess;
}

cu::Code kernel_get_function(cu::Function* out, cu::Kernel kernel) {
  if (kernel_of(kernel) == nullptr) return cu::kInvalidHandle;
  if (current_device() < 0) return cu::kInvalidContext;
  kernel_of(kernel)->device = current_device();
  *out = reinterpret_cast<cu::Function>(kernel);
  return cu::kSuccess;
}

cu::Code func_load(cu::Function function) {
  return kernel_of(function) == nullptr ? cu::kInvalidHandle : cu::kSuccess;
}

cu::Code func_get_attribute(int* out, cu::FunctionAttribute attribute, cu::Function function) {
  const KernelState* kernel = kernel_of(function);
  if (kernel == nullptr) return cu::kInvalidHandle;
  switch (attribute) {
    case cu::kFunctionMaxThreads:
      *out = kMaxThreads;
      return cu::kSuccess;
    case cu::kFunctionStaticShared:
      *out = 0;
      return cu::kSuccess;
    case cu::kFunctionLocalBytes:
      *out = 0;
      return cu::kSuccess;
    case cu::kFunctionRegisters:
      *out = kRegisters;
      return cu::kSuccess;
    case cu::kFunctionMaxDynamicShared:
      *out = kernel->max_dynamic;
      return cu::kSuccess;
    case cu::kFunctionSharedCarveout:
      *out = kernel->carveout;
      return cu::kSuccess;
  }
  return cu::kInvalidValue;
}

cu::Code func_set_attribute(cu::Function function, cu::FunctionAttribute attribute, int value) {
  KernelState* kernel = kernel_of(function);
  if (kernel == nullptr) return cu::kInvalidHandle;
  if (attribute == cu::kFunctionSharedCarveout) {
    if (value < 0 || value > 100) return cu::kInvalidValue;
    kernel->carveout = value;
    return cu::kSuccess;
  }
  if (attribute != cu::kFunctionMaxDynamicShared || value > 232448) return cu::kInvalidValue;
  kernel->max_dynamic = value;
  return cu::kSuccess;
}

cu::Code occupancy_max_active_blocks(int* out, cu::Function function, int threads,
                                     size_t shared_bytes) {
  if (kernel_of(function) == nullptr) return cu::kInvalidHandle;
  const size_t by_shared = kSharedOfMultiprocessor / (shared_bytes + kSharedReserved);
  *out = static_cast<int>(
      std::min<size_t>({size_t{2048} / static_cast<size_t>(threads), by_shared, 32}));
  return cu::kSuccess;
}

cu::Code launch_kernel_ex(const cu::LaunchConfig* config, cu::Function function, void** parameters,
                          void**) {
  const KernelState* kernel = kernel_of(function);
  StreamState* stream = find_stream(config->stream);
  if (kernel == nullptr || stream == nullptr) return cu::kInvalidHandle;
  if (stream->device != kernel->device || current_device() != kernel->device) {
    return cu::kInvalidContext;
  }
  if (config->grid_x == 0 || static_cast<int>(config->shared_bytes) > kernel->max_dynamic) {
    return cu::kInvalidValue;
  }
  FakeLaunch launch;
  launch.kernel = kernel->name;
  launch.device = kernel->device;
  launch.grid = config->grid_x;
  launch.threads = config->block_x;
  launch.shared_bytes = config->shared_bytes;
  EventState* started = nullptr;
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    const cu::LaunchAttribute& attribute = config->attributes[i];
    switch (attribute.id) {
      case cu::kLaunchProgrammaticSerialization:
        launch.programmatic = attribute.value.programmatic_serialization != 0;
        break;
      case cu::kLaunchMemSyncDomain:
        launch.remote_domain = attribute.value.mem_sync_domain == cu::kMemSyncDomainRemote;
        break;
      case cu::kLaunchCompletionEvent:
        started = find_event(attribute.value.launch_completion.event);
        if (started == nullptr) return cu::kInvalidHandle;
        break;
    }
  }
  if (stream->capture != nullptr) {
    if (stream->capture->invalid) return cu::kCaptureInvalidated;
    auto node = std::make_unique<Node>();
    node->launch = launch;
    node->parameters = copy_parameters(parameters);
    node->depends = stream->tail;
    stream->tail = {node.get()};
    stream->capture->nodes.push_back(std::move(node));
    return started == nullptr ? cu::kSuccess : cu::kCaptureUnsupported;
  }
  launch.after_end = stream->past.ended;
  launch.after_start = stream->past.started;
  Past begun = stream->past;
  const size_t id = run_launch(launch, parameters);
  stream->past.ended.insert(id);
  stream->past.started.insert(id);
  if (started != nullptr) {
    begun.started.insert(id);
    started->past = begun;
    started->recorded = true;
  }
  return cu::kSuccess;
}

}  // namespace impl
}  // namespace purlin::test::fake
