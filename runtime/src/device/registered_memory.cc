#include "device/registered_memory.h"

#include <fmt/format.h>

#include <utility>

#include "device/context_scope.h"

namespace purlin {

Result<RegisteredMemory> RegisteredMemory::create(std::shared_ptr<const CudaDevice> device,
                                                  void* host, uint64_t bytes) {
  const DriverApi& api = device->api();
  const RelaxedCaptureScope relaxed(api);
  const ContextScope scope(*device);
  PURLIN_RETURN_IF_ERROR(scope.status());
  PURLIN_RETURN_IF_ERROR(
      api.mem_host_register(host, bytes, cu::kHostRegisterPortable | cu::kHostRegisterDeviceMap)
          .with_context(
              fmt::format("registering {} bytes of host memory for {}", bytes, device->describe())));
  RegisteredMemory memory;
  memory.device_ = std::move(device);
  memory.host_ = host;
  PURLIN_RETURN_IF_ERROR(api.mem_host_get_device_pointer(&memory.device_address_, host, 0));
  return memory;
}

RegisteredMemory::RegisteredMemory(RegisteredMemory&& other) noexcept
    : device_(std::move(other.device_)),
      host_(std::exchange(other.host_, nullptr)),
      device_address_(std::exchange(other.device_address_, 0)) {}

RegisteredMemory& RegisteredMemory::operator=(RegisteredMemory&& other) noexcept {
  if (this != &other) {
    destroy();
    device_ = std::move(other.device_);
    host_ = std::exchange(other.host_, nullptr);
    device_address_ = std::exchange(other.device_address_, 0);
  }
  return *this;
}

RegisteredMemory::~RegisteredMemory() { destroy(); }

void RegisteredMemory::destroy() {
  if (host_ == nullptr) return;
  const RelaxedCaptureScope relaxed(device_->api());
  const ContextScope scope(*device_);
  if (scope.status().is_ok()) device_->api().raw().mem_host_unregister(host_);
  host_ = nullptr;
}

}  // namespace purlin
