#include "rendezvous/unique_id.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "rendezvous/fingerprint.h"

namespace purlin {
namespace {

// The layout of docs/rendezvous.md.
struct Wire {
  char magic[8];
  uint16_t version;
  uint8_t zero1[6];
  Identity name;
  Token token;
  uint64_t machine;
  uint64_t network_space;
  uint8_t zero2[40];
  uint64_t digest;
};
static_assert(sizeof(Wire) == PURLIN_UNIQUE_ID_BYTES && offsetof(Wire, token) == 32 &&
              offsetof(Wire, machine) == 64 && offsetof(Wire, digest) == 120);

constexpr char kMagic[8] = {'P', 'U', 'R', 'L', 'I', 'N', 'I', 'D'};
constexpr uint16_t kVersion = 1;

uint64_t digest_of(const Wire& wire) {
  return fingerprint(std::as_bytes(std::span(&wire, 1)).first(offsetof(Wire, digest)));
}

uint64_t this_machine() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string text;
  return std::getline(in, text) ? fingerprint(text) : 0;
}

uint64_t this_network_space() {
  struct stat facts {};
  return ::stat("/proc/self/ns/net", &facts) == 0 ? facts.st_ino : 0;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Result<UniqueId> make_unique_id() {
  UniqueId id;
  PURLIN_RETURN_IF_ERROR(fill_random(id.name));
  PURLIN_RETURN_IF_ERROR(fill_random(id.token));
  id.machine = this_machine();
  id.network_space = this_network_space();
  return id;
}

purlin_unique_id encode(const UniqueId& id) {
  Wire wire{};
  std::memcpy(wire.magic, kMagic, sizeof kMagic);
  wire.version = kVersion;
  wire.name = id.name;
  wire.token = id.token;
  wire.machine = id.machine;
  wire.network_space = id.network_space;
  wire.digest = digest_of(wire);
  purlin_unique_id out;
  std::memcpy(&out, &wire, sizeof out);
  return out;
}

Result<UniqueId> decode(const purlin_unique_id& bytes) {
  Wire wire;
  std::memcpy(&wire, &bytes, sizeof wire);
  if (std::memcmp(wire.magic, kMagic, sizeof kMagic) != 0)
    return Status(PURLIN_INVALID_ARGUMENT,
                  "unique id: bytes 0-7 are not PURLINID: it was never filled by "
                  "purlin_get_unique_id, or it did not reach this rank (was it broadcast?)");
  if (wire.version != kVersion)
    return Status(PURLIN_INVALID_ARGUMENT,
                  fmt::format("unique id: version {} (bytes 8-9), this library knows {}: the ranks "
                              "use different versions of Purlin",
                              wire.version, kVersion));
  if (wire.digest != digest_of(wire))
    return Status(
        PURLIN_INVALID_ARGUMENT,
        fmt::format("unique id: digest {:016x} (bytes 120-127) does not match the content "
                    "({:016x}): all 128 bytes must be passed on unchanged",
                    wire.digest, digest_of(wire)));
  return UniqueId{wire.name, wire.token, wire.machine, wire.network_space};
}

std::string to_hex(const purlin_unique_id& bytes) {
  std::string hex;
  for (const char c : bytes.bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

Result<purlin_unique_id> unique_id_from_hex(std::string_view hex) {
  if (hex.size() != 2 * PURLIN_UNIQUE_ID_BYTES)
    return Status(PURLIN_INVALID_ARGUMENT,
                  fmt::format("unique id: {} characters where {} hexadecimal digits are needed",
                              hex.size(), 2 * PURLIN_UNIQUE_ID_BYTES));
  purlin_unique_id out{};
  for (size_t i = 0; i < hex.size(); ++i) {
    const int digit = hex_digit(hex[i]);
    if (digit < 0)
      return Status(PURLIN_INVALID_ARGUMENT,
                    fmt::format("unique id: character {} is no hexadecimal digit", i + 1));
    const int high = static_cast<unsigned char>(out.bytes[i / 2]) << 4;
    out.bytes[i / 2] = static_cast<char>((high | digit) & 0xff);
  }
  return out;
}

Status check_reachable(const UniqueId& id) {
  const uint64_t machine = this_machine();
  if (id.machine != 0 && machine != 0 && id.machine != machine)
    return {PURLIN_UNSUPPORTED,
            "unique id: it was made on another machine (or before a reboot); the ranks of a "
            "communicator must run on one machine"};
  const uint64_t space = this_network_space();
  if (id.network_space != 0 && space != 0 && id.network_space != space)
    return {
        PURLIN_UNSUPPORTED,
        fmt::format("unique id: it was made in network namespace {}, this process is in {}; run "
                    "all ranks in one network namespace (containers: share the pod's or the "
                    "host's network)",
                    id.network_space, space)};
  return {};
}

}  // namespace purlin
