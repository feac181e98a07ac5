// Launches of one communicator on one device, in call order.
#pragma once

#include <memory>
#include <mutex>

#include "device/budget.h"
#include "device/device_order.h"
#include "device/launch.h"

namespace purlin {

// One per rank. launch() may be called from any thread and with any stream, capturing or not: the
// kernels run in the order of the calls. Where the device is overcommitted, the launch also passes
// the device's order, so that kernels of different communicators start in call order.
// Programmatic serialization asked by a plan is dropped where an event or edge had to be added.
class CallOrder {
 public:
  // `claim` outlives this object.
  static Result<std::unique_ptr<CallOrder>> create(std::shared_ptr<const CudaDevice> device,
                                                   const BudgetClaim& claim);
  // PURLIN_INVALID_USAGE: the stream's capture is broken. PURLIN_CUDA_ERROR: as the driver says.
  Status launch(const LaunchPlan& plan, cu::Stream stream);
  // Waits until the last launch, eager or replayed, has ended.
  Status synchronize() const;
  // True once it has ended; never blocks.
  Result<bool> idle() const;

 private:
  CallOrder(std::shared_ptr<const CudaDevice> device, const BudgetClaim& claim,
            std::shared_ptr<DeviceOrder> others, OrderPoint own)
      : device_(std::move(device)),
        claim_(claim),
        others_(std::move(others)),
        own_(std::move(own)) {}

  std::shared_ptr<const CudaDevice> device_;
  const BudgetClaim& claim_;
  std::shared_ptr<DeviceOrder> others_;
  std::mutex mutex_;  // taken before the device's
  OrderPoint own_;
};

}  // namespace purlin
