#include "policy/capacity.h"

#include <algorithm>

#include "snac/wire.h"

namespace purlin::policy {
namespace {

constexpr uint64_t kPacketBytes = sizeof(purlin_packet);
constexpr uint64_t kPayloadBytes = sizeof(purlin_packet::payload);

// A custom transformation may have one; two are reckoned with.
uint64_t step_count(purlin_collective collective, bool one_shot) {
  switch (collective) {
    case PURLIN_ALL_REDUCE:
      return one_shot ? 1 : 2;
    case PURLIN_BROADCAST:
    case PURLIN_REDUCE:
    case PURLIN_CUSTOM:
      return 2;
    default:
      return 1;
  }
}

}  // namespace

uint64_t packet_capacity(const Policy& policy, purlin_collective collective, int nranks,
                         bool one_shot) {
  const uint64_t half = policy.staging.latency_bytes.value;
  const auto n = static_cast<uint64_t>(nranks);
  if (collective == PURLIN_SEND_RECV)
    return policy.staging.pair_bytes.value / kPacketBytes * kPayloadBytes;
  if (n < 2 || collective == PURLIN_BARRIER) return kNoLimit;
  // Each source has an n-th of the half, and each step of the call its part of that.
  const uint64_t steps = step_count(collective, one_shot);
  const uint64_t pair =
      std::min(half / n / kPacketBytes / steps * kPayloadBytes, snac::kMostByPackets);
  return collective == PURLIN_ALL_REDUCE && one_shot ? pair : n * pair;
}

}  // namespace purlin::policy
