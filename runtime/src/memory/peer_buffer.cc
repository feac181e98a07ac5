#include "memory/peer_buffer.h"

#include <fmt/format.h>

#include <cstring>

#include "device/placement.h"
#include "memory/legacy_opening.h"

namespace purlin {

Result<PeerBuffer> PeerBuffer::open(std::shared_ptr<const CudaDevice> device,
                                    const BufferRecord& record, std::span<const OwnedFd> fds,
                                    const std::string& who) {
  const std::string what = fmt::format("the registered buffer of {}", who);
  PeerBuffer buffer;
  switch (record.form) {
    case ShareForm::kDescriptors:
      PURLIN_RETURN_IF_ERROR(
          buffer.open_descriptors(std::move(device), record, fds, who).with_context(what));
      return buffer;
    case ShareForm::kLegacy:
      PURLIN_RETURN_IF_ERROR(buffer.open_legacy(std::move(device), record).with_context(what));
      return buffer;
    case ShareForm::kNone:
      break;
  }
  return Status(PURLIN_UNSUPPORTED,
                fmt::format("{} cannot be shared: {}. It goes through staging instead", what,
                            record.why_not));
}

Status PeerBuffer::open_descriptors(std::shared_ptr<const CudaDevice> device,
                                    const BufferRecord& record, std::span<const OwnedFd> fds,
                                    const std::string& who) {
  if (record.piece_count > BufferRecord::kMaxPieces) {
    return {PURLIN_INTERNAL,
            fmt::format("a record of {} pieces arrived, at most {} exist; the ranks run different "
                        "builds of Purlin",
                        record.piece_count, BufferRecord::kMaxPieces)};
  }
  Result<PeerMapping> mapping = PeerMapping::import(
      std::move(device), fds, std::span(record.piece_bytes, record.piece_count), who);
  if (!mapping) return mapping.status();
  mapping_ = std::move(mapping).value();
  address_ = mapping_.address() + record.offset;
  return {};
}

Status PeerBuffer::open_legacy(std::shared_ptr<const CudaDevice> device,
                               const BufferRecord& record) {
  // A legacy handle cannot be opened by the process that made it; there the address itself serves.
  if (record.process == process_token()) {
    if (std::memcmp(&record.device, &device->uuid(), sizeof(cu::Uuid)) != 0) {
      PURLIN_RETURN_IF_ERROR(enable_peer_access(*device, record.device));
    }
    address_ = record.address;
    return {};
  }
  Result<std::shared_ptr<LegacyOpening>> opening = LegacyOpening::open(std::move(device), record);
  if (!opening) return opening.status();
  legacy_ = std::move(opening).value();
  address_ = legacy_->base() + record.offset;
  return {};
}

}  // namespace purlin
