#include "nccl/identity.h"

#include <algorithm>
#include <cstring>

namespace purlin::nccl {
namespace {

// docs/rendezvous.md, "A unique id, byte by byte".
constexpr size_t kVersionAt = 8, kSecretAt = 16, kSecretBytes = 48, kUnusedAt = 80,
                 kUnusedBytes = 40, kDigestAt = 120;
constexpr uint16_t kIdVersion = 1;

uint64_t fnv1a(const char* bytes, size_t count) {
  uint64_t hash = 0xcbf2'9ce4'8422'2325u;
  for (size_t i = 0; i < count; ++i) {
    hash ^= static_cast<unsigned char>(bytes[i]);
    hash *= 0x100'0000'01b3u;
  }
  return hash;
}

uint64_t mix(uint64_t x) {
  x += 0x9e37'79b9'7f4a'7c15u;
  x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9u;
  x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11ebu;
  return x ^ (x >> 31);
}

bool all_zero(const char* bytes, size_t count) {
  return std::all_of(bytes, bytes + count, [](char c) { return c == 0; });
}

}  // namespace

std::optional<purlin_unique_id> derive(const Seed& seed, std::span<const uint64_t> what) {
  uint16_t version = 0;
  uint64_t digest = 0;
  std::memcpy(&version, seed.bytes + kVersionAt, sizeof version);
  std::memcpy(&digest, seed.bytes + kDigestAt, sizeof digest);
  if (version != kIdVersion || digest != fnv1a(seed.bytes, kDigestAt)) return std::nullopt;
  purlin_unique_id id = seed;
  uint64_t words[kSecretBytes / 8];
  std::memcpy(words, seed.bytes + kSecretAt, kSecretBytes);
  uint64_t all = 0;
  for (const uint64_t word : words) all = mix(all ^ word);
  for (const uint64_t number : what) all = mix(all ^ mix(number));
  for (uint64_t& word : words) word = all = mix(all ^ word);
  std::memcpy(id.bytes + kSecretAt, words, kSecretBytes);
  digest = fnv1a(id.bytes, kDigestAt);
  std::memcpy(id.bytes + kDigestAt, &digest, sizeof digest);
  return id;
}

std::optional<UniqueId> join_ids(const purlin_unique_id& ours, const UniqueId& real) {
  if (!all_zero(ours.bytes + kUnusedAt, kUnusedBytes) || all_zero(real.bytes, kUnusedBytes) ||
      !all_zero(real.bytes + kUnusedBytes, sizeof real.bytes - kUnusedBytes))
    return std::nullopt;
  UniqueId joined;
  std::memcpy(joined.bytes, ours.bytes, sizeof joined.bytes);
  std::memcpy(joined.bytes + kUnusedAt, real.bytes, kUnusedBytes);
  return joined;
}

Ids part_ids(const UniqueId& joined) {
  Ids ids{};
  std::memcpy(ids.ours.bytes, joined.bytes, sizeof ids.ours.bytes);
  std::memcpy(ids.real.bytes, joined.bytes + kUnusedAt, kUnusedBytes);
  std::memset(ids.ours.bytes + kUnusedAt, 0, kUnusedBytes);
  ids.has_real = !all_zero(ids.real.bytes, kUnusedBytes);
  return ids;
}

}  // namespace purlin::nccl
