#include "tools/check/pieces.h"

#include <algorithm>

#include "purlin/purlin.h"

namespace purlin::tools::check {

std::vector<std::pair<int, int>> declared_reductions(const purlin_atom_limits& limits) {
  std::vector<std::pair<int, int>> declared;
  for (int dtype = 0; dtype < PURLIN_DTYPE_COUNT; ++dtype)
    for (int op = 0; op < PURLIN_OP_COUNT; ++op)
      if ((limits.op_mask[dtype] >> op & 1u) != 0) declared.emplace_back(dtype, op);
  return declared;
}

std::vector<uint64_t> edge_counts(uint64_t element_bytes, uint64_t stage_bytes) {
  std::vector<uint64_t> counts = {0,  1,  2,  3,  5,  7,  8,  9,   15,  16,
                                  17, 31, 32, 33, 63, 64, 65, 127, 129, 1000};
  // Around whole stages, but no more than takes a moment.
  const uint64_t stage = std::min<uint64_t>(stage_bytes, 256u << 10) / element_bytes;
  for (const uint64_t count : {stage, 2 * stage + 1}) {
    if (count < 1001) continue;
    counts.push_back(count - 1);
    counts.push_back(count);
  }
  return counts;
}

unsigned any_shift(std::mt19937_64& random) { return static_cast<unsigned>(random() % 64); }

Piece copy_piece(uint64_t bytes, unsigned source, unsigned target) {
  Piece piece;
  piece.count = bytes;
  piece.sources = {source};
  piece.targets = {target};
  return piece;
}

std::vector<std::vector<uint64_t>> walk_sizes() {
  return {{},
          {0},
          {1},
          {64},
          {0, 0, 0},
          {100, 0, 1, 0, 100},
          {4096, 1, 65536, 0, 3},
          std::vector<uint64_t>(300, 24)};
}

std::vector<std::vector<Piece>> aligned_copies(uint64_t stage_bytes, uint32_t destinations,
                                               bool full) {
  std::vector<std::vector<Piece>> walks;
  for (const uint64_t bytes : edge_counts(1, stage_bytes)) {
    const unsigned step = bytes > 1000 ? 5 : full ? 1 : 3;
    for (unsigned source = 0; source < 17; source += step) {
      std::vector<Piece>& walk = walks.emplace_back();
      for (unsigned target = 0; target < 17; target += step)
        walk.push_back(copy_piece(bytes, source, target));
      Piece several = copy_piece(bytes, source, 3);
      for (unsigned k = 1; k < destinations; ++k) several.targets.push_back(7 * k);
      walk.push_back(several);
      several.same = {0};  // in place, and copied from there
      walk.push_back(several);
    }
  }
  return walks;
}

Piece reduction_piece(uint64_t count, uint32_t sources, bool wild, std::mt19937_64& random) {
  Piece piece;
  piece.consume = PURLIN_CONSUME_REDUCE;
  piece.count = count;
  for (uint32_t r = 0; r < sources; ++r) piece.sources.push_back(any_shift(random));
  piece.targets = {any_shift(random)};
  piece.wild = wild;
  return piece;
}

Piece random_piece(const purlin_atom_limits& limits, uint32_t consume, uint64_t most,
                   uint32_t nranks, std::mt19937_64& random) {
  Piece piece;
  piece.consume = consume;
  piece.count =
      random() % 4 == 0 ? random() % (most + 1) : random() % (std::min<uint64_t>(most, 40) + 1);
  piece.wild = true;
  const uint32_t sources = consume == PURLIN_CONSUME_REDUCE ? nranks : 1;
  for (uint32_t r = 0; r < sources; ++r) piece.sources.push_back(any_shift(random));
  const uint64_t targets = 1 + random() % std::min<uint64_t>(limits.max_destinations, 5);
  const bool in_place = random() % 3 == 0;
  for (uint64_t k = 0; k < targets; ++k) {
    piece.targets.push_back(any_shift(random));
    piece.same.push_back(-1);
  }
  if (in_place) piece.same[random() % targets] = static_cast<int>(random() % sources);
  return piece;
}

}  // namespace purlin::tools::check
