// A range of device addresses with physical memory behind it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device/cuda_device.h"

namespace purlin {

// One physical allocation that becomes part of a range; its handle passes into the range.
struct MappedPiece {
  cu::MemHandle handle = 0;
  uint64_t bytes = 0;  // multiple of the allocation granularity
};

// Reserves addresses, maps pieces one behind the other, and lets one device read and write them.
// Owns range and handles. Released in the order that the driver needs: unmap, give up the handles,
// free the addresses. Physical memory lives until the last range of any process that maps it is
// released, so owner and peers may release in any order; but no kernel that uses *this* range may
// still run. Movable, not thread-safe.
class MappedRange {
 public:
  MappedRange() = default;
  // On failure the handles are given up too.
  static Result<MappedRange> map(std::shared_ptr<const CudaDevice> device,
                                 std::span<const MappedPiece> pieces);
  MappedRange(MappedRange&& other) noexcept;
  MappedRange& operator=(MappedRange&& other) noexcept;
  ~MappedRange();

  cu::DevicePtr address() const { return address_; }
  uint64_t bytes() const { return bytes_; }
  const std::vector<MappedPiece>& pieces() const { return pieces_; }
  const std::shared_ptr<const CudaDevice>& device() const { return device_; }
  explicit operator bool() const { return address_ != 0; }

  // As the destructor, with the first failure reported; the rest is released all the same.
  Status release();

 private:
  Status reserve_and_map();

  std::shared_ptr<const CudaDevice> device_;
  std::vector<MappedPiece> pieces_;
  cu::DevicePtr address_ = 0;
  uint64_t bytes_ = 0;
  uint64_t mapped_ = 0;  // bytes from the start that are mapped
};

}  // namespace purlin
