#include "communicator/device_choice.h"

#include <mutex>

#include "device/connections.h"

namespace purlin {

Result<std::shared_ptr<const CudaDevice>> device_for(const purlin_comm_options& options, int nranks) {
  const std::shared_ptr<const CudaDevice> host;
  if (options.device_kind == PURLIN_DEVICE_HOST) return host;
  {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    raise_connections(static_cast<unsigned>(nranks));
  }
  const Result<const DriverApi*> api = driver();
  if (!api) {
    if (options.device_kind == PURLIN_DEVICE_AUTO) return host;
    return api.status().with_context("device_kind PURLIN_DEVICE_CUDA");
  }
  return CudaDevice::open(**api, options.device_ordinal);
}

}  // namespace purlin
