// Launches of one communicator on one device, in call order.
#pragma once

#include <memory>
#include <mutex>

#include "device/budget.h"
#include "device/launch.h"
#include "device/order_point.h"

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
  // Waits until the last eager launch has ended. Not for use while the stream is being captured.
  Status synchronize();
  // True once the last eager launch has ended; never blocks.
  Result<bool> idle();

 private:
  CallOrder(std::shared_ptr<const CudaDevice> device, const BudgetClaim& claim, OrderPoint own)
      : device_(std::move(device)), claim_(claim), own_(std::move(own)) {}
  Status launch_chained(const LaunchPlan& plan, cu::Stream stream);

  std::shared_ptr<const CudaDevice> device_;
  const BudgetClaim& claim_;
  std::mutex mutex_;
  OrderPoint own_;
};

// Whether `stream` is being captured. PURLIN_INVALID_USAGE: its capture has been invalidated.
Result<bool> is_capturing(const DriverApi& api, cu::Stream stream);

}  // namespace purlin
