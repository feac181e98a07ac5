#include "policy/capacity.h"

namespace purlin::policy {
namespace {

constexpr uint64_t kPacketBytes = sizeof(purlin_packet);
constexpr uint64_t kPayloadBytes = sizeof(purlin_packet::payload);

}  // namespace

uint64_t packet_capacity(const Policy& policy, purlin_collective collective, int nranks,
                         bool one_shot) {
  const uint64_t half = policy.staging.latency_bytes.value;
  const auto n = static_cast<uint64_t>(nranks);
  if (collective == PURLIN_SEND_RECV)
    return policy.staging.pair_bytes.value / kPacketBytes * kPayloadBytes;
  if (n < 2 || collective == PURLIN_BARRIER) return kNoLimit;
  const uint64_t peers = n - 1;
  // Payload of one share when every peer's share has its own `shots` regions in a half.
  const auto share = [&](uint64_t shots) {
    return half / (kPacketBytes * peers * shots) * kPayloadBytes;
  };
  switch (collective) {
    case PURLIN_ALL_REDUCE:
      return one_shot ? share(1) : n * share(2);
    case PURLIN_BROADCAST:
    case PURLIN_REDUCE:
    case PURLIN_CUSTOM:
      return n * share(2);
    case PURLIN_ALL_TO_ALL_V:
      return n * (half / (kPacketBytes * n) * kPayloadBytes);
    case PURLIN_ALL_GATHER_V: {
      const uint64_t packets = half / kPacketBytes;  // each part may waste most of its last one
      return packets > n ? (packets - n) * kPayloadBytes : 0;
    }
    default:
      return n * share(1);
  }
}

}  // namespace purlin::policy
