// What ranks must agree on before they exchange a byte, and the comparison.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.h"
#include "status/status.h"

namespace purlin::policy {

struct WireSetting {
  std::string name;    // "crossover of all_reduce"
  std::string value;   // "512KiB"
  std::string origin;  // Origin::text(); not compared
};

// Fixed order and spelling for one policy and number of ranks: crossover, one-shot limit, chunk,
// grid, direction, zero-copy and reduction by size, staging, packet form, version.
using WireFingerprint = std::vector<WireSetting>;
WireFingerprint wire_fingerprint(const Policy& policy, int nranks);

// Text without NUL, for a rendezvous. deserialise: PURLIN_MISMATCH for a text that is none.
std::string serialise(const WireFingerprint& fingerprint);
Result<WireFingerprint> deserialise(const std::string& text);

// PURLIN_MISMATCH naming the first setting that differs, both values, both origins, both ranks.
Status compare(const WireFingerprint& mine, int my_rank, const WireFingerprint& theirs,
               int their_rank);

}  // namespace purlin::policy
