// What a stretch of a rank's memory must hold, piece by piece.
#pragma once

#include <cstdint>
#include <vector>

namespace purlin::tools {

enum class Content {
  kPoison,  // never written, or written with the poison pattern before the call
  kInput,   // elements index … of `rank`'s inputs
  kReduced  // elements index … of all ranks' inputs, reduced
};

// Elements offset … offset + count - 1 of an arena.
struct Piece {
  uint64_t offset = 0, count = 0;
  Content content = Content::kPoison;
  int rank = 0;        // kInput
  uint64_t index = 0;  // kInput, kReduced

  bool operator==(const Piece&) const = default;
};

// Poison everywhere in [0, count) but where `pieces` (in any order, not overlapping) say otherwise.
// The result is sorted, without gaps and without empty pieces.
std::vector<Piece> cover(uint64_t count, std::vector<Piece> pieces);

// `below` with `above` laid over it; both as for cover, `above` within the extent of `below`.
std::vector<Piece> overlay(const std::vector<Piece>& below, const std::vector<Piece>& above);

}  // namespace purlin::tools
