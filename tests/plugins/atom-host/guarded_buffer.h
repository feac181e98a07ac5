// A buffer of any alignment between two guards of a known byte.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace purlin::atom_host_test {

class GuardedBuffer {
 public:
  // `bytes` bytes of poison, starting `shift` bytes beyond a 64-byte boundary.
  explicit GuardedBuffer(uint64_t bytes, uint64_t shift = 0)
      : bytes_(bytes), memory_(bytes + 2 * kGuardBytes + 128, kGuardByte) {
    const auto address = reinterpret_cast<uintptr_t>(memory_.data()) + kGuardBytes;
    start_ = kGuardBytes + (64 - address % 64) % 64 + shift % 64;
    std::fill_n(data(), bytes_, kPoison);
  }
  GuardedBuffer(const std::vector<unsigned char>& content, uint64_t shift)
      : GuardedBuffer(content.size(), shift) {
    std::copy(content.begin(), content.end(), data());
  }

  unsigned char* data() { return memory_.data() + start_; }
  const unsigned char* data() const { return memory_.data() + start_; }

  bool holds(const std::vector<unsigned char>& content) const {
    return content.size() == bytes_ && std::equal(content.begin(), content.end(), data());
  }
  bool guards_intact() const {
    const auto is_guard = [](unsigned char byte) { return byte == kGuardByte; };
    return std::all_of(memory_.data(), data(), is_guard) &&
           std::all_of(data() + bytes_, memory_.data() + memory_.size(), is_guard);
  }

 private:
  static constexpr uint64_t kGuardBytes = 256;
  static constexpr unsigned char kGuardByte = 0xA5;
  static constexpr unsigned char kPoison = 0xCD;
  uint64_t bytes_;
  uint64_t start_ = 0;
  std::vector<unsigned char> memory_;
};

}  // namespace purlin::atom_host_test
