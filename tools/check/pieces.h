// Sizes, alignments, types and operations that segments are made of.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "tools/check/piece.h"

namespace purlin::tools::check {

// Dtype and operation of every reduction that the limits declare.
std::vector<std::pair<int, int>> declared_reductions(const purlin_atom_limits& limits);

// Element counts around words of 8, 16, 32 and 64 bytes and around a stage.
std::vector<uint64_t> edge_counts(uint64_t element_bytes, uint64_t stage_bytes);

// A piece of random shape within the limits: copies, reductions and scalings in place and apart.
Piece random_piece(const purlin_atom_limits& limits, uint32_t consume, uint64_t most,
                   uint32_t nranks, std::mt19937_64& random);

unsigned any_shift(std::mt19937_64& random);

// A copy of one source to one destination, each so many bytes past an aligned address.
Piece copy_piece(uint64_t bytes, unsigned source, unsigned target);

// Walks of copies of so many bytes each.
std::vector<std::vector<uint64_t>> walk_sizes();

// Walks of copies at alignments one after another, each walk from one alignment; the last copies of
// a walk go to `destinations` places at once, apart and in place. `full`: every alignment.
std::vector<std::vector<Piece>> aligned_copies(uint64_t stage_bytes, uint32_t destinations,
                                               bool full);

// A reduction at any alignments to one destination.
Piece reduction_piece(uint64_t count, uint32_t sources, bool wild, std::mt19937_64& random);

}  // namespace purlin::tools::check
