// The wire that a policy asks for.
#pragma once

#include "policy/policy.h"
#include "snac/wire.h"

namespace purlin {

inline snac::WireConfig wire_config(const policy::Policy& policy, int nranks) {
  snac::WireConfig config;
  config.nranks = static_cast<snac::u32>(nranks);
  config.max_ctas = policy::kMaxCtas;
  config.latency_bytes = policy.staging.latency_bytes.value;
  config.throughput_bytes = policy.staging.throughput_bytes.value;
  config.pair_slots = policy.staging.pair_slots.value;
  config.pair_slot_bytes = static_cast<snac::u32>(policy.staging.pair_bytes.value);
  return config;
}

}  // namespace purlin
