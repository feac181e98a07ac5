#include "memory/device_memory.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "device/private_stream.h"

namespace purlin {
namespace {

cu::MemAllocationProp exportable(const CudaDevice& device) {
  cu::MemAllocationProp prop = {};
  prop.type = cu::kAllocationPinned;
  prop.requested_handle_types = cu::kHandleTypePosixFd;
  prop.location = {cu::kLocationDevice, device.handle()};
  return prop;
}

}  // namespace

Result<DeviceMemory> DeviceMemory::create(std::shared_ptr<const CudaDevice> device, uint64_t bytes,
                                          const std::string& what) {
  const DriverApi& api = device->api();
  const RelaxedCaptureScope relaxed(api);
  const std::string asked = fmt::format("{}: {} bytes on {}", what, bytes, device->describe());
  const cu::MemAllocationProp prop = exportable(*device);
  size_t granularity = 0;
  PURLIN_RETURN_IF_ERROR(
      api.mem_get_allocation_granularity(&granularity, &prop, cu::kGranularityMinimum)
          .with_context(asked));
  if (bytes == 0 || bytes > UINT64_MAX - granularity) {
    return Status(PURLIN_INVALID_ARGUMENT,
                  fmt::format("{}: give 1 to {} bytes", asked, UINT64_MAX - granularity));
  }
  MappedPiece piece;
  piece.bytes = (bytes + granularity - 1) / granularity * granularity;
  PURLIN_RETURN_IF_ERROR(api.mem_create(&piece.handle, piece.bytes, &prop, 0).with_context(asked));
  Result<MappedRange> range = MappedRange::map(std::move(device), {&piece, 1});
  if (!range) return range.status().with_context(asked);
  DeviceMemory memory;
  memory.range_ = std::move(range).value();
  memory.bytes_ = bytes;
  PURLIN_RETURN_IF_ERROR(memory.zero().with_context(asked));
  return memory;
}

Status DeviceMemory::zero() const {
  Result<PrivateStream> stream = PrivateStream::create(device());
  if (!stream) return stream.status();
  const ContextScope scope(*device());
  PURLIN_RETURN_IF_ERROR(scope.status());
  PURLIN_RETURN_IF_ERROR(
      device()->api().memset_d8_async(address(), 0, mapped_bytes(), stream->get()));
  return stream->synchronize();
}

Result<OwnedFd> DeviceMemory::export_fd() const {
  int fd = -1;
  PURLIN_RETURN_IF_ERROR(
      device()->api().mem_export_to_shareable_handle(&fd, handle(), cu::kHandleTypePosixFd, 0));
  OwnedFd owned(fd);
  if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    return Status(PURLIN_SYSTEM_ERROR,
                  fmt::format("fcntl(F_SETFD) on the driver's memory descriptor {}: {}", fd,
                              std::strerror(errno)));
  }
  return owned;
}

}  // namespace purlin
