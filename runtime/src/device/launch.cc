#include "device/launch.h"

#include <fmt/format.h>

#include "device/context_scope.h"

namespace purlin {

Status launch(const LaunchPlan& plan, cu::Stream stream, cu::Event started) {
  const LoadedProgram& program = *plan.program;
  const CudaDevice& device = program.device();
  cu::LaunchAttribute attributes[3] = {};
  unsigned count = 0;
  const unsigned threads = plan.threads != 0 ? plan.threads : program.shape().threads;
  if (plan.programmatic) {
    attributes[count].id = cu::kLaunchProgrammaticSerialization;
    attributes[count++].value.programmatic_serialization = 1;
  }
  if (plan.remote_domain && device.sync_domains() > 1) {
    attributes[count].id = cu::kLaunchMemSyncDomain;
    attributes[count++].value.mem_sync_domain = cu::kMemSyncDomainRemote;
  }
  if (started != nullptr) {
    attributes[count].id = cu::kLaunchCompletionEvent;
    attributes[count++].value.launch_completion = {started, 0};
  }
  cu::LaunchConfig config = {};
  config.grid_x = plan.grid;
  config.grid_y = config.grid_z = 1;
  config.block_x = threads;
  config.block_y = config.block_z = 1;
  config.shared_bytes = program.shape().shared_bytes;
  config.stream = stream;
  config.attributes = attributes;
  config.attribute_count = count;

  const ContextScope scope(device);
  PURLIN_RETURN_IF_ERROR(scope.status());
  const cu::Code code =
      device.api().raw().launch_kernel_ex(&config, program.function(), plan.parameters, nullptr);
  if (code == cu::kSuccess) return {};
  return device.api()
      .check("cuLaunchKernelEx", code)
      .with_context(fmt::format("launching {} ({} CTAs of {} threads, {} bytes shared) on {}",
                                program.shape().kernel, plan.grid, threads,
                                program.shape().shared_bytes, device.describe()));
}

}  // namespace purlin
