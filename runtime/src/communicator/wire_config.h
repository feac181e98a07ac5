// The wire that a policy asks for.
#pragma once

#include "policy/policy.h"
#include "snac/wire.h"

namespace purlin {

// `message_limit`: most bytes of a message between two ranks that goes by packets. The switch, where it
// serves, has as much staging as the throughput protocol.
inline snac::WireConfig wire_config(const policy::Policy& policy, int nranks, bool switched,
                                    uint64_t message_limit = 0) {
  snac::WireConfig config;
  config.nranks = static_cast<snac::u32>(nranks);
  config.max_ctas = policy::kMaxCtas;
  config.latency_bytes = policy.staging.latency_bytes.value;
  config.throughput_bytes = policy.staging.throughput_bytes.value;
  config.switch_bytes = switched ? config.throughput_bytes : 0;
  config.pair_slots = policy.staging.pair_slots.value;
  config.pair_slot_bytes = static_cast<snac::u32>(policy.staging.pair_bytes.value);
  config.pair_packet_bytes =
      static_cast<snac::u32>(snac::divide_up(message_limit, 8) * sizeof(purlin_packet));
  return config;
}

}  // namespace purlin
