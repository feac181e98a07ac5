#include "memory/mapped_range.h"

#include <fmt/format.h>

#include <utility>

#include "device/context_scope.h"

namespace purlin {

Result<MappedRange> MappedRange::map(std::shared_ptr<const CudaDevice> device,
                                     std::span<const MappedPiece> pieces) {
  MappedRange range;
  range.device_ = std::move(device);
  range.pieces_.assign(pieces.begin(), pieces.end());
  for (const MappedPiece& piece : pieces) range.bytes_ += piece.bytes;
  // On failure the destructor gives up what was reached so far.
  PURLIN_RETURN_IF_ERROR(range.reserve_and_map().with_context(
      fmt::format("mapping {} bytes for {}", range.bytes_, range.device_->describe())));
  return range;
}

Status MappedRange::reserve_and_map() {
  const DriverApi& api = device_->api();
  const RelaxedCaptureScope relaxed(api);
  PURLIN_RETURN_IF_ERROR(api.mem_address_reserve(&address_, bytes_, 0, 0, 0));
  for (const MappedPiece& piece : pieces_) {
    PURLIN_RETURN_IF_ERROR(api.mem_map(address_ + mapped_, piece.bytes, 0, piece.handle, 0));
    mapped_ += piece.bytes;
  }
  const cu::MemAccessDesc access = {{cu::kLocationDevice, device_->handle()}, cu::kAccessReadWrite};
  return api.mem_set_access(address_, bytes_, &access, 1);
}

MappedRange::MappedRange(MappedRange&& other) noexcept
    : device_(std::move(other.device_)),
      pieces_(std::exchange(other.pieces_, {})),
      address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)),
      mapped_(std::exchange(other.mapped_, 0)) {}

MappedRange& MappedRange::operator=(MappedRange&& other) noexcept {
  if (this != &other) {
    // Nobody is left to tell: a failing unmap means that the process's GPU state is gone already.
    static_cast<void>(release());
    device_ = std::move(other.device_);
    pieces_ = std::exchange(other.pieces_, {});
    address_ = std::exchange(other.address_, 0);
    bytes_ = std::exchange(other.bytes_, 0);
    mapped_ = std::exchange(other.mapped_, 0);
  }
  return *this;
}

MappedRange::~MappedRange() { static_cast<void>(release()); }

Status MappedRange::release() {
  if (device_ == nullptr) return {};
  const DriverApi& api = device_->api();
  const RelaxedCaptureScope relaxed(api);
  Status first;
  const auto keep = [&first](Status status) {
    if (first.is_ok() && !status.is_ok()) first = std::move(status);
  };
  cu::DevicePtr at = address_;
  for (const MappedPiece& piece : pieces_) {
    if (at - address_ < mapped_) keep(api.mem_unmap(at, piece.bytes));
    at += piece.bytes;
  }
  for (const MappedPiece& piece : pieces_) keep(api.mem_release(piece.handle));
  if (address_ != 0) keep(api.mem_address_free(address_, bytes_));
  pieces_.clear();
  address_ = bytes_ = mapped_ = 0;
  device_.reset();
  return first;
}

}  // namespace purlin
