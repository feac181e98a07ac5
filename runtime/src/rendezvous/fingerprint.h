// FNV-1a, 64 bits: finds damage and tells names apart. No protection against an attacker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace purlin {

constexpr uint64_t kFingerprintSeed = 0xcbf29ce484222325u;

constexpr uint64_t fingerprint(std::string_view text, uint64_t seed = kFingerprintSeed) {
  uint64_t hash = seed;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

inline uint64_t fingerprint(std::span<const std::byte> bytes) {
  return fingerprint({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace purlin
