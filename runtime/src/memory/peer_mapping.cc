#include "memory/peer_mapping.h"

#include <fmt/format.h>

#include "device/context_scope.h"

namespace purlin {
namespace {

std::string naming(const std::string& who, const CudaDevice& device) {
  return fmt::format("memory of {} for {}", who, device.describe());
}

}  // namespace

Result<PeerMapping> PeerMapping::import(std::shared_ptr<const CudaDevice> device,
                                        std::span<const OwnedFd> fds,
                                        std::span<const uint64_t> piece_bytes,
                                        const std::string& who) {
  const DriverApi& api = device->api();
  const std::string what = naming(who, *device);
  if (fds.size() != piece_bytes.size() || fds.empty()) {
    return Status(
        PURLIN_INTERNAL,
        fmt::format("{}: {} descriptors arrived for {} pieces; both sides must count alike", what,
                    fds.size(), piece_bytes.size()));
  }
  const RelaxedCaptureScope relaxed(api);
  std::vector<MappedPiece> pieces;
  for (size_t i = 0; i < fds.size(); ++i) {
    MappedPiece piece;
    piece.bytes = piece_bytes[i];
    // The driver takes the descriptor's number in place of a pointer.
    const Status imported = api.mem_import_from_shareable_handle(
        &piece.handle, reinterpret_cast<void*>(static_cast<intptr_t>(fds[i].get())),
        cu::kHandleTypePosixFd);
    if (!imported) {
      for (const MappedPiece& earlier : pieces) api.raw().mem_release(earlier.handle);
      return imported.with_context(what);
    }
    pieces.push_back(piece);
  }
  Result<MappedRange> range = MappedRange::map(std::move(device), pieces);
  if (!range) return range.status().with_context(what);
  return PeerMapping(std::move(range).value());
}

Result<PeerMapping> PeerMapping::share(std::shared_ptr<const CudaDevice> device,
                                       const DeviceMemory& memory, const std::string& who) {
  const std::string what = naming(who, *device);
  MappedPiece piece;
  piece.bytes = memory.mapped_bytes();
  PURLIN_RETURN_IF_ERROR(
      device->api().mem_retain_allocation_handle(&piece.handle, memory.data()).with_context(what));
  Result<MappedRange> range = MappedRange::map(std::move(device), {&piece, 1});
  if (!range) return range.status().with_context(what);
  return PeerMapping(std::move(range).value());
}

}  // namespace purlin
