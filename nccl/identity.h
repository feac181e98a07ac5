// Unique ids: new ones that all ranks derive alike from an old one, and ids that serve a real NCCL
// too.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "nccl/abi.h"
#include "purlin/purlin.h"

namespace purlin::nccl {

// A purlin_unique_id from which others are derived; as secret as the id that it came from.
using Seed = purlin_unique_id;

// An id for those who know `seed` and `what`; other numbers give unrelated ids. Nothing if the seed
// has not the layout of docs/rendezvous.md that this code knows.
std::optional<purlin_unique_id> derive(const Seed& seed, std::span<const uint64_t> what);

// Where docs/rendezvous.md leaves bytes unused in an id, a real NCCL's fits: its own ids are zero
// but for their beginning. Nothing if either is not so.
std::optional<UniqueId> join_ids(const purlin_unique_id& ours, const UniqueId& real);
// The two parts; `real` is all zero if the id was made without a real NCCL.
struct Ids {
  purlin_unique_id ours;
  UniqueId real;
  bool has_real;
};
Ids part_ids(const UniqueId& joined);

}  // namespace purlin::nccl
