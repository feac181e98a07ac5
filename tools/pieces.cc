#include "tools/pieces.h"

#include <algorithm>

namespace purlin::tools {
namespace {

// The part of `piece` within [first, last).
Piece cut(const Piece& piece, uint64_t first, uint64_t last) {
  Piece part = piece;
  part.offset = std::max(piece.offset, first);
  const uint64_t end = std::min(piece.offset + piece.count, last);
  part.count = end > part.offset ? end - part.offset : 0;
  if (piece.content != Content::kPoison) part.index += part.offset - piece.offset;
  return part;
}

void sort_and_drop_empty(std::vector<Piece>& pieces) {
  std::erase_if(pieces, [](const Piece& piece) { return piece.count == 0; });
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.offset < b.offset; });
}

}  // namespace

std::vector<Piece> cover(uint64_t count, std::vector<Piece> pieces) {
  return overlay({Piece{.offset = 0, .count = count}}, pieces);
}

std::vector<Piece> overlay(const std::vector<Piece>& below, const std::vector<Piece>& above) {
  std::vector<Piece> upper = above;
  sort_and_drop_empty(upper);
  std::vector<Piece> result = upper;
  for (const Piece& piece : below) {
    uint64_t from = piece.offset;
    for (const Piece& top : upper) {
      result.push_back(cut(piece, from, top.offset));
      from = std::max(from, top.offset + top.count);
    }
    result.push_back(cut(piece, from, piece.offset + piece.count));
  }
  sort_and_drop_empty(result);
  return result;
}

}  // namespace purlin::tools
