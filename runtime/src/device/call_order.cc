#include "device/call_order.h"

#include "device/context_scope.h"

namespace purlin {

Result<std::unique_ptr<CallOrder>> CallOrder::create(std::shared_ptr<const CudaDevice> device,
                                                     const BudgetClaim& claim) {
  Result<std::shared_ptr<DeviceOrder>> others = device_order(device);
  if (!others) return others.status();
  Result<OrderPoint> own = OrderPoint::create(device);
  if (!own) return own.status();
  return std::unique_ptr<CallOrder>(
      new CallOrder(std::move(device), claim, std::move(others).value(), std::move(own).value()));
}

Status CallOrder::launch(const LaunchPlan& plan, cu::Stream stream) {
  const std::lock_guard own_lock(mutex_);
  const ContextScope scope(*device_);
  PURLIN_RETURN_IF_ERROR(scope.status());
  // Before the first point is entered: the lock of captures comes last.
  const bool chained = claim_.must_chain();
  std::unique_lock device_lock(others_->mutex, std::defer_lock);
  if (chained) device_lock.lock();
  LaunchPlan adjusted = plan;
  const Result<OrderPoint::Passage> own = own_.enter(stream);
  if (!own) return own.status();
  if (own.value().joined) adjusted.programmatic = false;

  if (!chained) {
    PURLIN_RETURN_IF_ERROR(purlin::launch(adjusted, stream));
    return own_.leave(own.value());
  }
  const Result<OrderPoint::Passage> chain = others_->point.enter(stream);
  if (!chain) return chain.status();
  if (chain.value().joined) adjusted.programmatic = false;
  // Eager launches hand the chain on as soon as they have started. A launch inside a capture cannot
  // record an event of the outside that way; there the chain goes on when the call has ended.
  const bool starts = chain.value().capture == 0;
  PURLIN_RETURN_IF_ERROR(
      purlin::launch(adjusted, stream, starts ? others_->point.event() : nullptr));
  PURLIN_RETURN_IF_ERROR(others_->point.leave(chain.value(), starts));
  return own_.leave(own.value());
}

Status CallOrder::synchronize() const {
  const RelaxedCaptureScope relaxed(device_->api());
  return device_->api().event_synchronize(own_.event());
}

Result<bool> CallOrder::idle() const {
  const RelaxedCaptureScope relaxed(device_->api());
  const cu::Code code = device_->api().raw().event_query(own_.event());
  if (code == cu::kNotReady) return false;
  PURLIN_RETURN_IF_ERROR(device_->api().check("cuEventQuery", code));
  return true;
}

}  // namespace purlin
