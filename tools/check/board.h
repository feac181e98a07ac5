// A walk of segments over guarded memory, played to an Atom's `run` in place of SNAC, with every
// rule watched.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "purlin/purlin.h"
#include "tools/check/piece.h"
#include "tools/guarded_buffer.h"

namespace purlin::tools::check {

class Board {
 public:
  static constexpr uint64_t kNever = ~uint64_t{0};

  // Constants come from the Atom's defaults. `descriptor` must outlive the board.
  Board(const purlin_atom_descriptor& descriptor, int dtype, int op, uint32_t nranks);

  purlin_constants constants{};
  uint64_t stop_at = kNever;  // ready says stop at this segment

  // Prepares memory and the expected result.
  void add(const Piece& piece, std::mt19937_64& random);

  // Runs the Atom over all segments; the first broken rule in words, empty if there is none. Once.
  std::string run();

 private:
  struct Segment {
    Piece piece;
    PieceData data;
    std::vector<GuardedBuffer> sources;
    std::vector<GuardedBuffer> apart;  // targets with memory of their own
    std::vector<unsigned char*> targets;
  };

  static int on_segment(void* board, uint64_t index, purlin_segment* out);
  static int on_ready(void* board, uint64_t index);
  static void on_done(void* board, uint64_t index);
  void fault(std::string text);
  std::string title(uint64_t index) const;
  bool untouched(const Segment& segment) const;
  void check_result(uint64_t index);
  void check_rest();

  const purlin_host_atom& atom_;
  std::vector<Segment> segments_;
  uint64_t next_ready_ = 0, next_done_ = 0;
  bool stopped_ = false;
  std::string fault_;
};

}  // namespace purlin::tools::check
