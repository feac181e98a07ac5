// A random exchange of messages with what every rank must hold afterwards; for ranks as threads and
// as processes.
#pragma once

#include <cstdint>
#include <string>

#include "purlin/purlin.h"

namespace purlin::test {

// Small slots, so that messages of some KiB take many units.
extern const char* const kSmallSlots;

// Issues what rank `r` of `n` sends and receives in the exchange of `seed` as one group, in an
// order of its own, and compares every byte and the guard zones. "" or what is wrong. Called by all
// ranks.
std::string exchange_messages(int n, int r, uint64_t seed, purlin_comm_t comm);

}  // namespace purlin::test
