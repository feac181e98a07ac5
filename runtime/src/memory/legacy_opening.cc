#include "memory/legacy_opening.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <mutex>

#include "device/context_scope.h"

namespace purlin {
namespace {

struct Entry {
  cu::DevicePtr base = 0;
  unsigned users = 0;
};

struct Table {
  std::mutex mutex;  // held while the driver opens and closes, so that both never overlap
  std::map<std::string, Entry> entries;
};

// Never destroyed: at exit the driver may be gone before static objects are.
Table& table() {
  static Table* const made = new Table();
  return *made;
}

std::string key_of(const CudaDevice& device, const BufferRecord& record) {
  std::string key(reinterpret_cast<const char*>(&record.legacy), sizeof(record.legacy));
  return key + fmt::format("/{:x}/{:x}/{}", record.process, record.memory_id, device.ordinal());
}

}  // namespace

Result<std::shared_ptr<LegacyOpening>> LegacyOpening::open(std::shared_ptr<const CudaDevice> device,
                                                           const BufferRecord& record) {
  const DriverApi& api = device->api();
  const RelaxedCaptureScope relaxed(api);
  const ContextScope scope(*device);
  PURLIN_RETURN_IF_ERROR(scope.status());
  std::string key = key_of(*device, record);
  const std::lock_guard lock(table().mutex);
  Entry& entry = table().entries[key];
  if (entry.users == 0) {
    const Status opened =
        api.ipc_open_mem_handle(&entry.base, record.legacy, cu::kIpcLazyPeerAccess);
    if (!opened) {
      table().entries.erase(key);
      return opened;
    }
  }
  ++entry.users;
  const cu::DevicePtr base = entry.base;
  return std::shared_ptr<LegacyOpening>(new LegacyOpening(std::move(device), std::move(key), base));
}

LegacyOpening::~LegacyOpening() {
  const RelaxedCaptureScope relaxed(device_->api());
  const ContextScope scope(*device_);
  const std::lock_guard lock(table().mutex);
  const auto found = table().entries.find(key_);
  if (--found->second.users != 0) return;
  table().entries.erase(found);
  if (scope.status().is_ok()) device_->api().raw().ipc_close_mem_handle(base_);
}

Status enable_peer_access(const CudaDevice& device, const cu::Uuid& owner) {
  const DriverApi& api = device.api();
  int count = 0;
  PURLIN_RETURN_IF_ERROR(api.device_get_count(&count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cu::Device candidate = 0;
    cu::Uuid uuid = {};
    PURLIN_RETURN_IF_ERROR(api.device_get(&candidate, ordinal));
    PURLIN_RETURN_IF_ERROR(api.device_get_uuid(&uuid, candidate));
    if (std::memcmp(&uuid, &owner, sizeof(uuid)) != 0) continue;
    const ContextScope scope(device);
    PURLIN_RETURN_IF_ERROR(scope.status());
    cu::Context context = nullptr;
    PURLIN_RETURN_IF_ERROR(api.primary_ctx_retain(&context, candidate));
    const cu::Code code = api.raw().ctx_enable_peer_access(context, 0);
    PURLIN_RETURN_IF_ERROR(api.primary_ctx_release(candidate));
    if (code == cu::kPeerAccessAlreadyEnabled) return {};
    return api.check("cuCtxEnablePeerAccess", code);
  }
  return {PURLIN_UNSUPPORTED,
          fmt::format("the GPU that owns the buffer is not visible beside {}; make it visible "
                      "(CUDA_VISIBLE_DEVICES)",
                      device.describe())};
}

}  // namespace purlin
