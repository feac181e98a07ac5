// Virtual memory of the fake driver: memory files, reserved addresses, mappings.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/fake/state.h"

namespace purlin::test::fake {

// The real driver can tell its own descriptors from others; here a memory file's size is enough.
cu::MemHandle adopt(int fd, uint64_t bytes, const cu::MemAllocationProp& prop) {
  const cu::MemHandle handle = 0x1000 + state().next_id++;
  state().handles[handle] = {fd, bytes, 1, handle, prop};
  const auto object = state().multicast.find(file_number(fd));
  if (object != state().multicast.end()) ++object->second.handles;
  return handle;
}

// A multicast object is gone, and its slot free, with its last handle.
void drop(cu::MemHandle handle) {
  const auto found = state().handles.find(handle);
  if (--found->second.references > 0) return;
  const auto object = state().multicast.find(file_number(found->second.fd));
  if (object != state().multicast.end() && --object->second.handles == 0)
    state().multicast.erase(object);
  ::close(found->second.fd);
  state().handles.erase(found);
}

uint64_t file_number(int fd) {
  struct stat facts = {};
  return ::fstat(fd, &facts) == 0 ? facts.st_ino : 0;
}

namespace impl {
namespace {

constexpr size_t kGranularity = size_t{2} << 20;

void* at(cu::DevicePtr address) { return reinterpret_cast<void*>(address); }

// The mapping that holds the address, or end().
auto mapping_of(cu::DevicePtr address) {
  auto found = state().mappings.upper_bound(address);
  if (found == state().mappings.begin()) return state().mappings.end();
  --found;
  return address < found->first + found->second.bytes ? found : state().mappings.end();
}

bool reserved(cu::DevicePtr address, uint64_t bytes) {
  auto found = state().ranges.upper_bound(address);
  if (found == state().ranges.begin()) return false;
  --found;
  return address + bytes <= found->first + found->second;
}

}  // namespace

cu::Code mem_get_allocation_granularity(size_t* out, const cu::MemAllocationProp*, int) {
  *out = kGranularity;
  return cu::kSuccess;
}

cu::Code mem_create(cu::MemHandle* out, size_t bytes, const cu::MemAllocationProp* prop,
                    unsigned long long) {
  if (bytes == 0 || bytes % kGranularity != 0) return cu::kInvalidValue;
  if (const cu::Code code = forbid_in_capture(); code != cu::kSuccess) return code;
  if (state().allocated + bytes > state().setup.memory_bytes) return cu::kOutOfMemory;
  const int fd = memfd_create("fake device memory", 0);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) return cu::kOutOfMemory;
  // New memory holds anything.
  const std::vector<char> rubbish(kGranularity, '\xcd');
  for (size_t done = 0; done < bytes; done += kGranularity) {
    if (::pwrite(fd, rubbish.data(), kGranularity, static_cast<off_t>(done)) !=
        static_cast<ssize_t>(kGranularity)) {
      return cu::kOutOfMemory;
    }
  }
  *out = adopt(fd, bytes, *prop);
  return cu::kSuccess;
}

cu::Code mem_export_to_shareable_handle(void* out, cu::MemHandle handle, int type,
                                        unsigned long long) {
  const auto found = state().handles.find(handle);
  if (found == state().handles.end() || type != cu::kHandleTypePosixFd) return cu::kInvalidValue;
  if ((found->second.prop.requested_handle_types & type) == 0) return cu::kInvalidValue;
  *static_cast<int*>(out) = ::dup(found->second.fd);
  return cu::kSuccess;
}

cu::Code mem_import_from_shareable_handle(cu::MemHandle* out, void* os_handle, int type) {
  const int fd = static_cast<int>(reinterpret_cast<intptr_t>(os_handle));
  struct stat facts = {};
  if (type != cu::kHandleTypePosixFd || ::fstat(fd, &facts) != 0) return cu::kInvalidValue;
  cu::MemAllocationProp prop = {};
  prop.type = cu::kAllocationPinned;
  prop.requested_handle_types = cu::kHandleTypePosixFd;
  prop.location.type = cu::kLocationDevice;
  *out = adopt(::dup(fd), static_cast<uint64_t>(facts.st_size), prop);
  return cu::kSuccess;
}

cu::Code mem_address_reserve(cu::DevicePtr* out, size_t bytes, size_t, cu::DevicePtr,
                             unsigned long long) {
  if (bytes == 0 || bytes % kGranularity != 0) return cu::kInvalidValue;
  void* const range = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (range == MAP_FAILED) return cu::kOutOfMemory;
  *out = reinterpret_cast<cu::DevicePtr>(range);
  state().ranges[*out] = bytes;
  return cu::kSuccess;
}

cu::Code mem_address_free(cu::DevicePtr address, size_t bytes) {
  const auto found = state().ranges.find(address);
  if (found == state().ranges.end() || found->second != bytes) return cu::kInvalidValue;
  const auto inside = state().mappings.lower_bound(address);
  if (inside != state().mappings.end() && inside->first < address + bytes) return cu::kInvalidValue;
  ::munmap(at(address), bytes);
  state().ranges.erase(found);
  return cu::kSuccess;
}

cu::Code mem_map(cu::DevicePtr address, size_t bytes, size_t offset, cu::MemHandle handle,
                 unsigned long long) {
  const auto found = state().handles.find(handle);
  if (found == state().handles.end() || offset != 0 || bytes == 0 || bytes > found->second.bytes ||
      !reserved(address, bytes) || mapping_of(address) != state().mappings.end()) {
    return cu::kInvalidValue;
  }
  const bool lost = state().setup.lost_writes && found->second.references > 1;
  void* const mapped =
      lost ? ::mmap(at(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
           : ::mmap(at(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, found->second.fd, 0);
  if (mapped == MAP_FAILED) return cu::kOutOfMemory;
  ++found->second.references;
  state().allocated += bytes;
  state().mappings[address] = {bytes, handle, -1};
  return cu::kSuccess;
}

cu::Code mem_unmap(cu::DevicePtr address, size_t bytes) {
  const auto found = state().mappings.find(address);
  if (found == state().mappings.end() || found->second.bytes != bytes) return cu::kInvalidValue;
  void* const bare =
      ::mmap(at(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (bare == MAP_FAILED) return cu::kUnknown;
  const cu::MemHandle handle = found->second.handle;
  state().allocated -= bytes;
  state().mappings.erase(found);
  drop(handle);
  return cu::kSuccess;
}

cu::Code mem_set_access(cu::DevicePtr address, size_t bytes, const cu::MemAccessDesc* access,
                        size_t count) {
  if (count != 1 || access->location.type != cu::kLocationDevice ||
      access->location.id >= state().setup.devices || access->flags != cu::kAccessReadWrite) {
    return cu::kInvalidValue;
  }
  for (cu::DevicePtr next = address; next < address + bytes;) {
    const auto found = mapping_of(next);
    if (found == state().mappings.end()) return cu::kInvalidValue;
    const Handle& handle = state().handles.at(found->second.handle);
    if (handle.prop.location.id != access->location.id && !state().setup.peer_access) {
      return cu::kNotSupported;
    }
    if (::mprotect(at(found->first), found->second.bytes, PROT_READ | PROT_WRITE) != 0) {
      return cu::kUnknown;
    }
    found->second.access = access->location.id;
    next = found->first + found->second.bytes;
  }
  return cu::kSuccess;
}

cu::Code mem_release(cu::MemHandle handle) {
  const auto found = state().handles.find(handle);
  if (found == state().handles.end()) return cu::kInvalidValue;
  int mapped = 0;
  for (const auto& [address, mapping] : state().mappings)
    mapped += mapping.handle == handle ? 1 : 0;
  if (found->second.references <= mapped) return cu::kInvalidValue;  // given up once too often
  drop(handle);
  return cu::kSuccess;
}

cu::Code mem_retain_allocation_handle(cu::MemHandle* out, void* address) {
  const auto found = mapping_of(reinterpret_cast<cu::DevicePtr>(address));
  if (found == state().mappings.end()) return cu::kInvalidValue;
  *out = found->second.handle;
  ++state().handles.at(*out).references;
  return cu::kSuccess;
}

cu::Code mem_get_allocation_properties(cu::MemAllocationProp* out, cu::MemHandle handle) {
  const auto found = state().handles.find(handle);
  if (found == state().handles.end()) return cu::kInvalidValue;
  *out = found->second.prop;
  return cu::kSuccess;
}

}  // namespace impl
}  // namespace purlin::test::fake
