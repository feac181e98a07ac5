// Multicast objects of the fake driver. There is no switch behind them: what is stored through one reaches
// no replica. Like the real calls they are strict about order: all devices before the first binding,
// bound before unbound, and a slot for each object.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "gpu/fake/state.h"

namespace purlin::test::fake {
namespace {

constexpr size_t kGranularity = size_t{2} << 20;

// The object of a handle, or nullptr.
Multicast* object_of(cu::MemHandle handle) {
  const auto found = state().handles.find(handle);
  if (found == state().handles.end()) return nullptr;
  const auto object = state().multicast.find(file_number(found->second.fd));
  return object == state().multicast.end() ? nullptr : &object->second;
}

cu::Code create(cu::MemHandle* out, const cu::MulticastProp* prop) {
  const std::lock_guard lock(state().mutex);
  if (const cu::Code code = gate("cuMulticastCreate"); code != cu::kSuccess) return code;
  if (prop->devices == 0 || prop->bytes == 0 || prop->bytes % kGranularity != 0)
    return cu::kInvalidValue;
  if (static_cast<int>(state().multicast.size()) >= state().setup.multicast_slots)
    return cu::kOutOfMemory;
  const int fd = memfd_create("fake multicast object", 0);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(prop->bytes)) != 0) return cu::kOutOfMemory;
  state().multicast[file_number(fd)] = {prop->devices, prop->bytes, 0, {}, {}};
  cu::MemAllocationProp memory = {};
  memory.requested_handle_types = static_cast<int>(prop->handle_types);
  *out = adopt(fd, prop->bytes, memory);
  return cu::kSuccess;
}

cu::Code add_device(cu::MemHandle handle, cu::Device device) {
  const std::lock_guard lock(state().mutex);
  if (const cu::Code code = gate("cuMulticastAddDevice"); code != cu::kSuccess) return code;
  Multicast* const object = object_of(handle);
  if (object == nullptr || object->added.size() >= object->devices || object->added.count(device) != 0)
    return cu::kInvalidValue;
  object->added.insert(device);
  return cu::kSuccess;
}

cu::Code bind_mem(cu::MemHandle handle, size_t offset, cu::MemHandle memory, size_t memory_offset,
                  size_t bytes, unsigned long long) {
  const std::lock_guard lock(state().mutex);
  if (const cu::Code code = gate("cuMulticastBindMem"); code != cu::kSuccess) return code;
  Multicast* const object = object_of(handle);
  const auto found = state().handles.find(memory);
  if (object == nullptr || found == state().handles.end()) return cu::kInvalidValue;
  if (object->added.size() != object->devices) return cu::kInvalidValue;
  const int device = found->second.prop.location.id;
  if (object->added.count(device) == 0 || object->bound.count(device) != 0 || offset != 0 ||
      memory_offset != 0 || bytes != object->bytes || bytes > found->second.bytes)
    return cu::kInvalidValue;
  object->bound[device] = bytes;
  return cu::kSuccess;
}

cu::Code unbind(cu::MemHandle handle, cu::Device device, size_t offset, size_t bytes) {
  const std::lock_guard lock(state().mutex);
  if (const cu::Code code = gate("cuMulticastUnbind"); code != cu::kSuccess) return code;
  Multicast* const object = object_of(handle);
  if (object == nullptr || offset != 0 || object->bound.count(device) == 0 ||
      object->bound[device] != bytes)
    return cu::kInvalidValue;
  object->bound.erase(device);
  return cu::kSuccess;
}

cu::Code get_granularity(size_t* out, const cu::MulticastProp*, int) {
  const std::lock_guard lock(state().mutex);
  *out = kGranularity;
  return gate("cuMulticastGetGranularity");
}

}  // namespace

void* multicast_call(const char* symbol) {
  const struct {
    const char* symbol;
    void* function;
  } calls[] = {{"cuMulticastCreate", reinterpret_cast<void*>(&create)},
               {"cuMulticastAddDevice", reinterpret_cast<void*>(&add_device)},
               {"cuMulticastBindMem", reinterpret_cast<void*>(&bind_mem)},
               {"cuMulticastUnbind", reinterpret_cast<void*>(&unbind)},
               {"cuMulticastGetGranularity", reinterpret_cast<void*>(&get_granularity)}};
  for (const auto& call : calls)
    if (std::strcmp(call.symbol, symbol) == 0) return call.function;
  return nullptr;
}

}  // namespace purlin::test::fake
