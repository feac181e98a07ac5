// Plain and pinned memory of the fake driver, copies, and what a pointer is.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gpu/fake/state.h"

namespace purlin::test::fake::impl {
namespace {

struct PointerFacts {
  unsigned type = 0;
  int device = 0;
  bool managed = false, legacy = false, pool = false;
  cu::DevicePtr start = 0;
  uint64_t size = 0;
  cu::DevicePtr mapping_start = 0;
  uint64_t mapping_size = 0;
  uint64_t buffer_id = 0, block_id = 0;
};

uint64_t size_of(uint64_t bytes) { return bytes; }
template <class Block>
uint64_t size_of(const Block& block) {
  return block.bytes;
}

template <class Table>
auto block_of(Table& table, cu::DevicePtr address, uint64_t& size) {
  for (auto each = table.begin(); each != table.end(); ++each) {
    const auto base = reinterpret_cast<cu::DevicePtr>(reinterpret_cast<void*>(each->first));
    if (address >= base && address < base + size_of(each->second)) {
      size = size_of(each->second);
      return each;
    }
  }
  return table.end();
}

PointerFacts facts_of(cu::DevicePtr address) {
  State& s = state();
  PointerFacts facts;
  uint64_t size = 0;
  if (const auto plain = block_of(s.plain, address, size); plain != s.plain.end()) {
    facts = {cu::kMemoryTypeDevice,
             plain->second.device,
             false,
             s.setup.legacy_handles,
             false,
             plain->first,
             size,
             plain->first,
             size,
             plain->second.id,
             plain->second.id};
  } else if (const auto mapped = block_of(s.mappings, address, size); mapped != s.mappings.end()) {
    const Handle& handle = s.handles.at(mapped->second.handle);
    auto range = s.ranges.upper_bound(address);
    --range;
    facts = {cu::kMemoryTypeDevice, handle.prop.location.id, false,         false, false,
             range->first,          range->second,           mapped->first, size,  range->first,
             handle.block_id};
  } else if (const auto pinned = block_of(s.pinned, address, size); pinned != s.pinned.end()) {
    facts.type = cu::kMemoryTypeHost;
  } else if (const auto special = block_of(s.special, address, size); special != s.special.end()) {
    const auto base = reinterpret_cast<cu::DevicePtr>(special->first);
    facts = {cu::kMemoryTypeDevice,
             0,
             !special->second.pool,
             false,
             special->second.pool,
             base,
             size,
             base,
             size,
             base,
             base};
  }
  return facts;
}

// Whether the device may touch all of it; unknown addresses are host memory and left to the
// process.
bool accessible(cu::DevicePtr address, uint64_t bytes) {
  auto found = state().ranges.upper_bound(address);
  if (found == state().ranges.begin()) return true;
  --found;
  if (address >= found->first + found->second) return true;
  for (cu::DevicePtr next = address; next < address + bytes;) {
    uint64_t size = 0;
    const auto mapping = block_of(state().mappings, next, size);
    if (mapping == state().mappings.end() || mapping->second.access < 0) return false;
    next = mapping->first + size;
  }
  return true;
}

cu::Code copy(cu::DevicePtr to, cu::DevicePtr from, size_t bytes, cu::Stream stream) {
  const StreamState* where = find_stream(stream);
  if (where == nullptr) return cu::kInvalidContext;
  if (where->capture != nullptr) return cu::kCaptureUnsupported;
  if (!accessible(to, bytes) || !accessible(from, bytes)) return cu::kIllegalAddress;
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return cu::kSuccess;
}

}  // namespace

cu::Code mem_alloc(cu::DevicePtr* out, size_t bytes) {
  if (current_device() < 0) return cu::kInvalidContext;
  if (const cu::Code code = forbid_in_capture(); code != cu::kSuccess) return code;
  const int fd = memfd_create("fake plain memory", 0);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) return cu::kOutOfMemory;
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return cu::kOutOfMemory;
  *out = reinterpret_cast<cu::DevicePtr>(mapped);
  state().plain[*out] = {bytes, fd, current_device(), state().next_id++};
  return cu::kSuccess;
}

cu::Code mem_free(cu::DevicePtr address) {
  const auto found = state().plain.find(address);
  if (found == state().plain.end()) return cu::kInvalidValue;
  ::munmap(reinterpret_cast<void*>(address), found->second.bytes);
  ::close(found->second.fd);
  state().plain.erase(found);
  return cu::kSuccess;
}

cu::Code mem_host_alloc(void** out, size_t bytes, unsigned) {
  if (current_device() < 0) return cu::kInvalidContext;
  if (const cu::Code code = forbid_in_capture(); code != cu::kSuccess) return code;
  *out = std::malloc(bytes);
  std::memset(*out, 0xcd, bytes);  // the real call does not zero either
  state().pinned[*out] = bytes;
  return cu::kSuccess;
}

cu::Code mem_free_host(void* address) {
  if (state().pinned.erase(address) == 0) return cu::kInvalidValue;
  std::free(address);
  return cu::kSuccess;
}

// Memory of the application's, which it frees itself.
cu::Code mem_host_register(void* address, size_t bytes, unsigned) {
  const bool fresh = state().pinned.emplace(address, bytes).second;
  return fresh ? cu::kSuccess : cu::kInvalidValue;
}
cu::Code mem_host_unregister(void* address) {
  return state().pinned.erase(address) == 1 ? cu::kSuccess : cu::kInvalidValue;
}

cu::Code mem_host_get_device_pointer(cu::DevicePtr* out, void* address, unsigned) {
  if (!state().pinned.contains(address)) return cu::kInvalidValue;
  *out = reinterpret_cast<cu::DevicePtr>(address);
  return cu::kSuccess;
}

cu::Code pointer_get_attributes(unsigned count, cu::PointerAttribute* attributes, void** data,
                                cu::DevicePtr address) {
  const PointerFacts facts = facts_of(address);
  for (unsigned i = 0; i < count; ++i) {
    const auto put = [&](auto value) { std::memcpy(data[i], &value, sizeof(value)); };
    switch (attributes[i]) {
      case cu::kPointerMemoryType:
        put(facts.type);
        break;
      case cu::kPointerBufferId:
        put(facts.buffer_id);
        break;
      case cu::kPointerIsManaged:
        put(facts.managed);
        break;
      case cu::kPointerDeviceOrdinal:
        put(facts.device);
        break;
      case cu::kPointerIsLegacyIpcCapable:
        put(facts.legacy);
        break;
      case cu::kPointerRangeStart:
        put(facts.start);
        break;
      case cu::kPointerRangeSize:
        put(facts.size);
        break;
      case cu::kPointerAllowedHandleTypes:
        put(uint64_t{0});
        break;
      case cu::kPointerMemPool:
        put(uint64_t{facts.pool ? 0x9001u : 0u});
        break;
      case cu::kPointerMappingSize:
        put(facts.mapping_size);
        break;
      case cu::kPointerMappingBase:
        put(facts.mapping_start);
        break;
      case cu::kPointerMemoryBlockId:
        put(facts.block_id);
        break;
    }
  }
  return cu::kSuccess;
}

cu::Code mem_get_address_range(cu::DevicePtr* base, size_t* bytes, cu::DevicePtr address) {
  const PointerFacts facts = facts_of(address);
  if (facts.type != cu::kMemoryTypeDevice) return cu::kNotFound;
  *base = facts.start;
  *bytes = facts.size;
  return cu::kSuccess;
}

// The handle names the memory file through the owner's /proc entry.
struct LegacyHandle {
  pid_t process;
  int fd;
  uint64_t bytes;
};
static_assert(sizeof(LegacyHandle) <= sizeof(cu::IpcMemHandle));

cu::Code ipc_get_mem_handle(cu::IpcMemHandle* out, cu::DevicePtr address) {
  uint64_t size = 0;
  const auto plain = block_of(state().plain, address, size);
  if (plain == state().plain.end()) return cu::kInvalidValue;
  const LegacyHandle handle = {::getpid(), plain->second.fd, size};
  std::memset(out, 0, sizeof(*out));
  std::memcpy(out, &handle, sizeof(handle));
  return cu::kSuccess;
}

cu::Code ipc_open_mem_handle(cu::DevicePtr* out, cu::IpcMemHandle handle, unsigned flags) {
  if (current_device() < 0) return cu::kInvalidContext;
  LegacyHandle named = {};
  std::memcpy(&named, &handle, sizeof(named));
  if (named.process == ::getpid() || flags != cu::kIpcLazyPeerAccess) return cu::kInvalidContext;
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%d/fd/%d", static_cast<int>(named.process), named.fd);
  const int fd = ::open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return cu::kInvalidValue;
  void* const mapped = ::mmap(nullptr, named.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (mapped == MAP_FAILED) return cu::kInvalidValue;
  *out = reinterpret_cast<cu::DevicePtr>(mapped);
  state().openings[*out] = named.bytes;
  return cu::kSuccess;
}

cu::Code ipc_close_mem_handle(cu::DevicePtr address) {
  const auto found = state().openings.find(address);
  if (found == state().openings.end()) return cu::kInvalidValue;
  ::munmap(reinterpret_cast<void*>(address), found->second);
  state().openings.erase(found);
  return cu::kSuccess;
}

cu::Code memcpy_async(cu::DevicePtr to, cu::DevicePtr from, size_t bytes, cu::Stream stream) {
  return copy(to, from, bytes, stream);
}
cu::Code memcpy_htod_async(cu::DevicePtr to, const void* from, size_t bytes, cu::Stream stream) {
  return copy(to, reinterpret_cast<cu::DevicePtr>(from), bytes, stream);
}
cu::Code memcpy_dtoh_async(void* to, cu::DevicePtr from, size_t bytes, cu::Stream stream) {
  return copy(reinterpret_cast<cu::DevicePtr>(to), from, bytes, stream);
}

cu::Code memset_d8_async(cu::DevicePtr to, unsigned char value, size_t bytes, cu::Stream stream) {
  const StreamState* where = find_stream(stream);
  if (where == nullptr) return cu::kInvalidContext;
  if (where->capture != nullptr) return cu::kCaptureUnsupported;
  if (!accessible(to, bytes)) return cu::kIllegalAddress;
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return cu::kSuccess;
}

cu::Code memset_d32_async(cu::DevicePtr to, unsigned value, size_t words, cu::Stream stream) {
  std::vector<unsigned> source(words, value);
  return copy(to, reinterpret_cast<cu::DevicePtr>(source.data()), words * sizeof(unsigned), stream);
}

}  // namespace purlin::test::fake::impl
