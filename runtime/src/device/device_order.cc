#include "device/device_order.h"

#include <map>
#include <string>

namespace purlin {

Result<std::shared_ptr<DeviceOrder>> device_order(const std::shared_ptr<const CudaDevice>& device) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<DeviceOrder>> orders;
  const std::lock_guard lock(mutex);
  std::weak_ptr<DeviceOrder>& slot = orders[device->uuid_text()];
  if (std::shared_ptr<DeviceOrder> existing = slot.lock()) return existing;
  Result<OrderPoint> point = OrderPoint::create(device);
  if (!point) return point.status();
  auto made = std::make_shared<DeviceOrder>(std::move(point).value());
  slot = made;
  return made;
}

}  // namespace purlin
