// Which calls a row of a policy speaks of: collectives, numbers of ranks, sizes T.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "purlin/purlin.h"

namespace purlin::policy {

inline constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

// A set of purlin_collective, one bit each.
using CollectiveSet = uint32_t;
inline constexpr CollectiveSet kAllCollectives = (1u << PURLIN_COLLECTIVE_COUNT) - 1;
constexpr CollectiveSet set_of(purlin_collective c) { return 1u << static_cast<unsigned>(c); }

// Both ends belong to the range.
struct RankRange {
  int first = 1;
  int last = PURLIN_MAX_RANKS;
  bool contains(int nranks) const { return first <= nranks && nranks <= last; }
  bool operator==(const RankRange&) const = default;
};

// Sizes above `above` up to and including `up_to`; a range that starts at 0 holds 0 too.
struct ByteRange {
  uint64_t above = 0;
  uint64_t up_to = kNoLimit;
  bool contains(uint64_t bytes) const { return (above == 0 || bytes > above) && bytes <= up_to; }
  bool operator==(const ByteRange&) const = default;
};

struct Scope {
  CollectiveSet collectives = kAllCollectives;
  RankRange ranks;
  ByteRange bytes;
  bool contains(purlin_collective c, int nranks, uint64_t size) const {
    return (collectives & set_of(c)) != 0 && ranks.contains(nranks) && bytes.contains(size);
  }
  // As the policy spells it: "all_reduce, 2..8 ranks, 64KiB..1MiB".
  std::string text() const;
};

}  // namespace purlin::policy
