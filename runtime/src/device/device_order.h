// The order in which communicators of this process start their kernels on one device.
#pragma once

#include <memory>
#include <mutex>

#include "device/order_point.h"

namespace purlin {

struct DeviceOrder {
  explicit DeviceOrder(OrderPoint made) : point(std::move(made)) {}
  std::mutex mutex;  // held around enter, launch and leave
  OrderPoint point;
};

// The order of this device, one for each UUID in the process; lives as long as its last user.
Result<std::shared_ptr<DeviceOrder>> device_order(const std::shared_ptr<const CudaDevice>& device);

}  // namespace purlin
