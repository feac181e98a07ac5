// One round trip through the hub: everybody gives, everybody gets all.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rendezvous/limit.h"
#include "rendezvous/meeting.h"

namespace purlin {

struct ExchangeRequest {
  ExchangeKind kind = ExchangeKind::kBarrier;
  uint64_t sequence = 0;
  std::span<const std::byte> bytes;  // what this rank gives
  std::span<const int> descriptors;  // likewise; stays the caller's
  Limit limit;
};

struct Contribution {
  std::vector<std::byte> bytes;
  std::vector<OwnedFd> descriptors;  // of other ranks; a rank's own are not sent back to it
};

// All contributions in rank order. After an error the circle is of no more use.
Result<std::vector<Contribution>> exchange(Circle& circle, const ExchangeRequest& request,
                                           const LivenessRecord& record);

}  // namespace purlin
