#include "rendezvous/address.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include "rendezvous/fingerprint.h"

namespace purlin {
namespace {

std::string hex(const Identity& identity) {
  std::string text;
  for (const std::byte b : identity) text += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return text;
}

}  // namespace

Result<Address> address_of(const UniqueId& id) {
  PURLIN_RETURN_IF_ERROR(check_reachable(id));
  return Address{"purlin.1.i." + hex(id.name), id.token, true, "unique id"};
}

Result<Address> address_of(const LauncherEnvironment& environment) {
  if (environment.unique_id) {
    auto address = address_of(*environment.unique_id);
    if (address) address->origin = "unique id of " + environment.source;
    return address;
  }
  // All ranks derive the same "token" from the job, so that a collision of the short name is found.
  const std::string job =
      fmt::format("{}|{}|{}", environment.source, environment.job, environment.nranks);
  Address address;
  for (size_t i = 0; i < 4; ++i) {
    const uint64_t part = fingerprint(job, kFingerprintSeed + i);
    std::memcpy(address.token.data() + 8 * i, &part, sizeof part);
  }
  address.name = fmt::format("purlin.1.e.{}.{:016x}", ::geteuid(), fingerprint(job));
  address.origin = fmt::format("environment of {}, {}", environment.source,
                               environment.job.empty() ? "no job named" : environment.job);
  return address;
}

Address address_of_members(const Identity& communicator, const Token& token, bool token_used) {
  return {"purlin.1.c." + hex(communicator), token, token_used, "communicator"};
}

}  // namespace purlin
