#include "memory/registration.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <type_traits>
#include <utility>

#include "device/context_scope.h"
#include "device/placement.h"

namespace purlin {

static_assert(std::is_trivially_copyable_v<BufferRecord>);

Result<BufferOffer> BufferOffer::make(std::shared_ptr<const CudaDevice> device, void* address,
                                      uint64_t bytes) {
  const Result<BufferOrigin> origin = origin_of(*device, address, bytes);
  if (!origin) return origin.status();
  BufferOffer offer;
  offer.device_ = std::move(device);
  offer.record_.bytes = bytes;
  offer.record_.process = process_token();
  offer.record_.address = reinterpret_cast<uint64_t>(address);
  offer.record_.device = offer.device_->uuid();
  if (!origin.value().why_not.empty()) {
    offer.decline(origin.value().why_not);
  } else if (origin.value().kind == BufferKind::kVirtual) {
    PURLIN_RETURN_IF_ERROR(offer.offer_descriptors(origin.value()));
  } else {
    PURLIN_RETURN_IF_ERROR(offer.offer_legacy(origin.value()));
  }
  if (offer.shareable()) PURLIN_RETURN_IF_ERROR(offer.remember_parts(origin.value()));
  return offer;
}

BufferOffer BufferOffer::none(const std::string& reason) {
  BufferOffer offer;
  offer.decline(reason);
  return offer;
}

void BufferOffer::decline(const std::string& reason) {
  record_.form = ShareForm::kNone;
  const size_t length = std::min(reason.size(), sizeof(record_.why_not) - 1);
  std::memcpy(record_.why_not, reason.data(), length);
  record_.why_not[length] = '\0';
}

Status BufferOffer::offer_descriptors(const BufferOrigin& origin) {
  if (origin.pieces.size() > BufferRecord::kMaxPieces) {
    decline(fmt::format("it lies in {} pieces of virtual memory, and at most {} are shared",
                        origin.pieces.size(), BufferRecord::kMaxPieces));
    return {};
  }
  for (const BufferPiece& piece : origin.pieces) {
    cu::MemHandle handle = 0;
    PURLIN_RETURN_IF_ERROR(
        device_->api().mem_retain_allocation_handle(&handle, reinterpret_cast<void*>(piece.base)));
    record_.piece_bytes[handles_.size()] = piece.bytes;
    handles_.push_back(handle);
  }
  record_.form = ShareForm::kDescriptors;
  record_.piece_count = static_cast<uint32_t>(handles_.size());
  record_.offset = record_.address - origin.pieces.front().base;
  return {};
}

Status BufferOffer::offer_legacy(const BufferOrigin& origin) {
  const ContextScope scope(*device_);
  PURLIN_RETURN_IF_ERROR(scope.status());
  const Status got = device_->api().ipc_get_mem_handle(&record_.legacy, record_.address);
  if (!got) {
    decline(got.message());
    return {};
  }
  record_.form = ShareForm::kLegacy;
  record_.offset = record_.address - origin.pieces.front().base;
  return {};
}

Status BufferOffer::remember_parts(const BufferOrigin& origin) {
  for (const BufferPiece& piece : origin.pieces) {
    const uint64_t begin = std::max<uint64_t>(piece.base, record_.address);
    const uint64_t end =
        std::min<uint64_t>(piece.base + piece.bytes, record_.address + record_.bytes);
    const Result<uint64_t> id = memory_id_of(*device_, reinterpret_cast<const void*>(begin));
    if (!id) return id.status();
    parts_.push_back({begin, end, *id});
  }
  record_.memory_id = parts_.front().id;
  return {};
}

BufferOffer::BufferOffer(BufferOffer&& other) noexcept
    : device_(std::move(other.device_)),
      record_(other.record_),
      parts_(std::move(other.parts_)),
      handles_(std::exchange(other.handles_, {})) {}

BufferOffer& BufferOffer::operator=(BufferOffer&& other) noexcept {
  if (this != &other) {
    release();
    device_ = std::move(other.device_);
    record_ = other.record_;
    parts_ = std::move(other.parts_);
    handles_ = std::exchange(other.handles_, {});
  }
  return *this;
}

BufferOffer::~BufferOffer() { release(); }

void BufferOffer::release() {
  for (const cu::MemHandle handle : handles_) device_->api().raw().mem_release(handle);
  handles_.clear();
}

Result<std::vector<OwnedFd>> BufferOffer::export_fds() const {
  std::vector<OwnedFd> fds;
  for (const cu::MemHandle handle : handles_) {
    int fd = -1;
    PURLIN_RETURN_IF_ERROR(
        device_->api().mem_export_to_shareable_handle(&fd, handle, cu::kHandleTypePosixFd, 0));
    fds.emplace_back(fd);
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
      return Status(PURLIN_SYSTEM_ERROR,
                    fmt::format("fcntl(F_SETFD) on the driver's memory descriptor {}: {}", fd,
                                std::strerror(errno)));
    }
  }
  return fds;
}

Status BufferOffer::check_unchanged(uint64_t offset, uint64_t bytes) const {
  const uint64_t begin = record_.address + offset;
  for (const Part& part : parts_) {
    if (part.end <= begin || part.begin >= begin + bytes) continue;
    const Result<uint64_t> now = memory_id_of(*device_, reinterpret_cast<const void*>(part.begin));
    if (!now) return now.status();
    if (*now == part.id) continue;
    return {PURLIN_INVALID_USAGE,
            fmt::format("the registered buffer of {} bytes at {:#x} on {} has been freed or "
                        "remapped since: other memory lies at {:#x}. Deregister it before it is "
                        "freed, and register the new one",
                        record_.bytes, record_.address, device_->describe(), part.begin)};
  }
  return {};
}

}  // namespace purlin
