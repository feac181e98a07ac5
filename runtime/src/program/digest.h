// SHA-256 (FIPS 180-4): names programs and tells a damaged file from a whole one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace purlin {

using Digest = std::array<uint8_t, 32>;

// Lower-case hexadecimal, 64 characters.
std::string hex(const Digest& digest);

// Takes bytes in any number of pieces. Not thread-safe; finish() at most once.
class Sha256 {
 public:
  void update(std::span<const std::byte> bytes);
  // A field: its length as 8 bytes, little end first, then its bytes, so that neighbouring fields
  // cannot run into each other.
  void field(std::string_view text);
  void field(std::span<const std::byte> bytes);
  void field(uint64_t number);
  Digest finish();

 private:
  void block(const uint8_t* data);

  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> pending_{};
  size_t pending_bytes_ = 0;
  uint64_t total_ = 0;
};

Digest sha256(std::span<const std::byte> bytes);

}  // namespace purlin
