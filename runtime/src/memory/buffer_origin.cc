#include "memory/buffer_origin.h"

#include <fmt/format.h>

#include "device/context_scope.h"

namespace purlin {
namespace {

// What the driver says of one address; all zero for memory it does not know.
struct Facts {
  uint64_t type = 0;
  uint64_t managed = 0;
  uint64_t ordinal = 0;
  uint64_t legacy = 0;
  uint64_t start = 0;
  uint64_t size = 0;
  uint64_t pool = 0;
};

// Attributes are of 1, 4 or 8 bytes; a zeroed 8-byte slot holds each of them (low byte first).
Result<Facts> ask(const DriverApi& api, cu::DevicePtr address) {
  Facts facts;
  cu::PointerAttribute attributes[] = {cu::kPointerMemoryType,    cu::kPointerIsManaged,
                                       cu::kPointerDeviceOrdinal, cu::kPointerIsLegacyIpcCapable,
                                       cu::kPointerRangeStart,    cu::kPointerRangeSize,
                                       cu::kPointerMemPool};
  void* slots[] = {&facts.type,  &facts.managed, &facts.ordinal, &facts.legacy,
                   &facts.start, &facts.size,    &facts.pool};
  static_assert(std::size(attributes) == std::size(slots));
  PURLIN_RETURN_IF_ERROR(api.pointer_get_attributes(std::size(slots), attributes, slots, address));
  return facts;
}

Result<BufferPiece> mapping_at(const DriverApi& api, cu::DevicePtr address) {
  BufferPiece piece;
  cu::PointerAttribute attributes[] = {cu::kPointerMappingBase, cu::kPointerMappingSize};
  void* slots[] = {&piece.base, &piece.bytes};
  PURLIN_RETURN_IF_ERROR(api.pointer_get_attributes(2, attributes, slots, address));
  return piece;
}

Status beyond(const CudaDevice& device, cu::DevicePtr address, uint64_t bytes,
              const BufferPiece& last) {
  return {PURLIN_INVALID_ARGUMENT,
          fmt::format("a buffer of {} bytes at {:#x} on {} is not wholly backed by memory: what is "
                      "mapped ends at {:#x}. Check the count and that the buffer is alive",
                      bytes, address, device.describe(), last.base + last.bytes)};
}

bool is_virtual(const DriverApi& api, cu::DevicePtr address) {
  cu::MemHandle handle = 0;
  if (api.raw().mem_retain_allocation_handle(&handle, reinterpret_cast<void*>(address)) !=
      cu::kSuccess) {
    return false;
  }
  api.raw().mem_release(handle);
  return true;
}

// Follows the mappings from the buffer's first byte to its last.
Status walk(const CudaDevice& device, cu::DevicePtr address, uint64_t bytes,
            std::vector<BufferPiece>& pieces) {
  cu::DevicePtr at = address;
  while (at < address + bytes) {
    const Result<BufferPiece> piece = mapping_at(device.api(), at);
    if (!piece) return piece.status();
    if (piece.value().bytes == 0) {
      return beyond(device, address, bytes,
                    pieces.empty() ? BufferPiece{address, 0} : pieces.back());
    }
    pieces.push_back(piece.value());
    at = piece.value().base + piece.value().bytes;
  }
  return {};
}

// Whether the physical memory of a piece was made to be exported as a descriptor.
Result<std::string> why_piece_is_not_exportable(const DriverApi& api, const BufferPiece& piece) {
  cu::MemHandle handle = 0;
  PURLIN_RETURN_IF_ERROR(
      api.mem_retain_allocation_handle(&handle, reinterpret_cast<void*>(piece.base)));
  cu::MemAllocationProp prop = {};
  const Status asked = api.mem_get_allocation_properties(&prop, handle);
  PURLIN_RETURN_IF_ERROR(api.mem_release(handle));
  PURLIN_RETURN_IF_ERROR(asked);
  if (prop.location.type != cu::kLocationDevice) {
    return std::string("its virtual memory lies on the host");
  }
  if ((prop.requested_handle_types & cu::kHandleTypePosixFd) == 0) {
    return std::string("its virtual memory was made without export as a file descriptor");
  }
  return std::string();
}

Status classify_virtual(const CudaDevice& device, cu::DevicePtr address, uint64_t bytes,
                        BufferOrigin& origin) {
  origin.kind = BufferKind::kVirtual;
  PURLIN_RETURN_IF_ERROR(walk(device, address, bytes, origin.pieces));
  for (const BufferPiece& piece : origin.pieces) {
    Result<std::string> reason = why_piece_is_not_exportable(device.api(), piece);
    if (!reason) return reason.status();
    if (!reason->empty()) {
      origin.why_not = *reason;
      break;
    }
  }
  return {};
}

BufferOrigin on_host(BufferKind kind, const char* why_not) {
  BufferOrigin origin;
  origin.kind = kind;
  origin.why_not = why_not;
  return origin;
}

}  // namespace

Result<BufferOrigin> origin_of(const CudaDevice& device, const void* buffer, uint64_t bytes) {
  const DriverApi& api = device.api();
  const RelaxedCaptureScope relaxed(api);
  const cu::DevicePtr address = reinterpret_cast<cu::DevicePtr>(buffer);
  const ContextScope scope(device);
  PURLIN_RETURN_IF_ERROR(scope.status());
  const Result<Facts> asked = ask(api, address);
  if (!asked) return asked.status();
  const Facts& facts = asked.value();
  if (facts.type == 0) {
    return on_host(BufferKind::kHost, "it is host memory that the driver does not know");
  }
  if (facts.managed != 0) {
    return on_host(BufferKind::kManaged, "managed memory migrates and cannot be mapped by peers");
  }
  if (facts.type == cu::kMemoryTypeHost) {
    return on_host(BufferKind::kPinnedHost, "page-locked host memory is not mapped by peers");
  }
  BufferOrigin origin;
  origin.device_ordinal = static_cast<int>(facts.ordinal);
  if (origin.device_ordinal != device.ordinal()) {
    return Status(
        PURLIN_INVALID_ARGUMENT,
        fmt::format("the buffer at {:#x} lies on GPU {}, and the communicator runs on {}. "
                    "Pass memory of the communicator's device",
                    address, origin.device_ordinal, device.describe()));
  }
  if (facts.pool == 0 && facts.legacy == 0 && is_virtual(api, address)) {
    PURLIN_RETURN_IF_ERROR(classify_virtual(device, address, bytes, origin));
    return origin;
  }
  const BufferPiece whole = {facts.start, facts.size};
  if (address + bytes > whole.base + whole.bytes) return beyond(device, address, bytes, whole);
  origin.pieces.push_back(whole);
  origin.kind = facts.pool != 0 ? BufferKind::kPool : BufferKind::kPlain;
  if (facts.pool != 0) {
    origin.why_not = "memory of a stream-ordered pool cannot be mapped by peers once allocated";
  } else if (facts.legacy == 0) {
    origin.why_not = "this driver offers no handle for plain allocations";
  }
  return origin;
}

Result<uint64_t> memory_id_of(const CudaDevice& device, const void* address) {
  uint64_t type = 0;
  uint64_t buffer = 0;
  uint64_t block = 0;
  cu::PointerAttribute attributes[] = {cu::kPointerMemoryType, cu::kPointerBufferId,
                                       cu::kPointerMemoryBlockId};
  void* slots[] = {&type, &buffer, &block};
  PURLIN_RETURN_IF_ERROR(device.api().pointer_get_attributes(
      3, attributes, slots, reinterpret_cast<cu::DevicePtr>(address)));
  if (type != cu::kMemoryTypeDevice) return uint64_t{0};
  // Remapped virtual memory keeps its buffer id and changes its block; a plain allocation at an old
  // address changes both.
  return buffer * 0x9e3779b97f4a7c15u ^ block;
}

}  // namespace purlin
