#include "device/loaded_program.h"

#include <fmt/format.h>

#include "device/context_scope.h"

namespace purlin {
namespace {

constexpr int kAllShared = 100;  // percent of the cache that serves as shared memory

}  // namespace

Result<std::shared_ptr<const LoadedProgram>> LoadedProgram::load(
    std::shared_ptr<const CudaDevice> device, std::span<const std::byte> image,
    const ProgramShape& shape) {
  const RelaxedCaptureScope relaxed(device->api());
  const ContextScope scope(*device);
  PURLIN_RETURN_IF_ERROR(scope.status());
  std::shared_ptr<LoadedProgram> program(new LoadedProgram(std::move(device), shape));
  const std::string what =
      fmt::format("loading {} for {}", shape.kernel, program->device().describe());
  PURLIN_RETURN_IF_ERROR(program->load_function(image).with_context(what));
  PURLIN_RETURN_IF_ERROR(program->check_threads().with_context(what));
  PURLIN_RETURN_IF_ERROR(program->raise_shared_limit().with_context(what));
  PURLIN_RETURN_IF_ERROR(program->ask_occupancy().with_context(what));
  return std::shared_ptr<const LoadedProgram>(std::move(program));
}

LoadedProgram::~LoadedProgram() {
  if (library_ == nullptr) return;
  const RelaxedCaptureScope relaxed(device_->api());
  const ContextScope scope(*device_);
  if (scope.status().is_ok()) device_->api().raw().library_unload(library_);
}

Result<std::pair<cu::DevicePtr, size_t>> LoadedProgram::global(const std::string& name) const {
  const ContextScope scope(*device_);
  PURLIN_RETURN_IF_ERROR(scope.status());
  std::pair<cu::DevicePtr, size_t> found;
  PURLIN_RETURN_IF_ERROR(
      device_->api()
          .library_get_global(&found.first, &found.second, library_, name.c_str())
          .with_context(fmt::format("variable {} of {}", name, shape_.kernel)));
  return found;
}

Status LoadedProgram::load_function(std::span<const std::byte> image) {
  const DriverApi& api = device_->api();
  PURLIN_RETURN_IF_ERROR(
      api.library_load_data(&library_, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  cu::Kernel kernel = nullptr;
  PURLIN_RETURN_IF_ERROR(api.library_get_kernel(&kernel, library_, shape_.kernel.c_str()));
  PURLIN_RETURN_IF_ERROR(api.kernel_get_function(&function_, kernel));
  // Functions are loaded lazily otherwise: at the first launch, with an allocation.
  PURLIN_RETURN_IF_ERROR(api.func_load(function_));
  int value = 0;
  PURLIN_RETURN_IF_ERROR(api.func_get_attribute(&value, cu::kFunctionRegisters, function_));
  registers_ = static_cast<unsigned>(value);
  PURLIN_RETURN_IF_ERROR(api.func_get_attribute(&value, cu::kFunctionLocalBytes, function_));
  local_bytes_ = static_cast<unsigned>(value);
  return {};
}

Status LoadedProgram::check_threads() {
  int most = 0;
  PURLIN_RETURN_IF_ERROR(
      device_->api().func_get_attribute(&most, cu::kFunctionMaxThreads, function_));
  if (shape_.threads >= 1 && shape_.threads <= static_cast<unsigned>(most)) return {};
  return {
      PURLIN_UNSUPPORTED,
      fmt::format("{} threads a CTA were asked for, and the kernel can have 1 to {} ({} registers "
                  "a thread). Lower the threads in the policy",
                  shape_.threads, most, registers_)};
}

Status LoadedProgram::raise_shared_limit() {
  int fixed = 0;
  PURLIN_RETURN_IF_ERROR(
      device_->api().func_get_attribute(&fixed, cu::kFunctionStaticShared, function_));
  const uint64_t needed = static_cast<uint64_t>(fixed) + shape_.shared_bytes;
  const uint32_t offered = device_->facts().shared_bytes_per_block;
  if (needed > offered) {
    return {
        PURLIN_UNSUPPORTED,
        fmt::format("a CTA needs {} bytes of shared memory ({} fixed, {} for the pipeline), and "
                    "the device offers {}. Lower stages or stage_bytes in the policy",
                    needed, fixed, shape_.shared_bytes, offered)};
  }
  PURLIN_RETURN_IF_ERROR(device_->api().func_set_attribute(
      function_, cu::kFunctionMaxDynamicShared, static_cast<int>(shape_.shared_bytes)));
  // One split of the cache for all programs: where two launches differ in it the device may wait for
  // itself between them, and so for a kernel of ours that waits for the one behind.
  return device_->api().func_set_attribute(function_, cu::kFunctionSharedCarveout, kAllShared);
}

Status LoadedProgram::ask_occupancy() {
  int blocks = 0;
  PURLIN_RETURN_IF_ERROR(device_->api().occupancy_max_active_blocks(
      &blocks, function_, static_cast<int>(shape_.threads), shape_.shared_bytes));
  if (blocks < 1) {
    return {
        PURLIN_UNSUPPORTED,
        fmt::format("no CTA fits a multiprocessor: {} threads with {} registers each and {} bytes "
                    "of shared memory. Lower threads or stages in the policy",
                    shape_.threads, registers_, shape_.shared_bytes)};
  }
  blocks_per_multiprocessor_ = static_cast<unsigned>(blocks);
  return {};
}

}  // namespace purlin
