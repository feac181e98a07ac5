// What fits: packets in a half of latency staging, and a policy in a device and its Atom.
#pragma once

#include <cstdint>
#include <string>

#include "policy/policy.h"
#include "purlin/atom_abi.h"
#include "status/status.h"

namespace purlin::policy {

// Largest size T of a collective whose packets fit `policy`'s latency staging (send_recv: one slot
// of a pair) at nranks >= 2. Packets double the bytes and never cycle; see docs/policy.md. Never
// wraps.
uint64_t packet_capacity(const Policy& policy, purlin_collective collective, int nranks,
                         bool one_shot);

// The device and Atom that a policy is to be used with. Zero or NULL members are not checked.
struct Bound {
  const purlin_atom_limits* limits = nullptr;
  std::string atom;                     // its name, for messages
  bool cuda = false;                    // threads must then be a multiple of 32
  uint32_t shared_bytes_per_block = 0;  // opt-in maximum
  uint64_t memory_bytes = 0;            // of the device
};

// PURLIN_POLICY_ERROR "FILE:LINE:COLUMN: …" naming the value, the limit and where the limit comes
// from, for the first setting that cannot be met at this number of ranks. PURLIN_INVALID_ARGUMENT
// for a budget of the caller's above kMaxCtas.
Status check_against(const Policy& policy, const Bound& bound, int nranks);

}  // namespace purlin::policy
