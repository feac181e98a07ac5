// One segment of a check, and the bytes that belong to it.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "purlin/purlin.h"
#include "tools/check/elements.h"

namespace purlin::tools::check {

// One segment to be made.
struct Piece {
  uint32_t consume = PURLIN_CONSUME_COPY;
  uint64_t count = 0;             // elements of the program's dtype; of a copy, bytes
  std::vector<unsigned> sources;  // each source's bytes past an aligned address
  std::vector<unsigned> targets;  // each destination's
  std::vector<int> same;          // target k is source same[k]; -1, or missing: memory of its own
  bool wild = false;              // element values, see elements.h
};

// The bytes of sources of one reduction, combined as docs/numerics.md says. PURLIN_PREMUL_SUM is a
// sum here, as it is to an Atom.
Bytes reduced(int dtype, int op, const std::vector<Bytes>& sources);
// The scaled bytes of one source; `scalar` holds one value of the accumulation type.
Bytes scaled(int dtype, const Bytes& source, uint64_t scalar);

// What a piece's sources hold, and each of its targets afterwards.
struct PieceData {
  uint64_t bytes = 0;
  std::vector<Bytes> originals;
  Bytes expected;
};
// For a program of this dtype and operation; `scalar` as for scaled.
PieceData make_data(const Piece& piece, int dtype, int op, uint64_t scalar,
                    std::mt19937_64& random);

// "copy of 5 bytes, 1 sources, 2 destinations".
std::string piece_title(const Piece& piece, int dtype, int op);

}  // namespace purlin::tools::check
