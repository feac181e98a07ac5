// Segments for a pipeline, a SNAC that hands them out and watches what becomes of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "purlin/atom_abi.h"

namespace purlin {

// What the linker would fill in.
struct Constants {
  uint32_t nranks = 2, dtype = PURLIN_U8, op = PURLIN_SUM, stages = 4, stage_bytes = 4096,
           threads = 160;
  uint32_t sources = 0;  // of reducing segments
  uint64_t scalar = 0;
};
extern Constants constants;

// One segment with buffers of its own. Sources hold garbage until ready and after done.
struct Piece {
  uint64_t bytes = 0;
  uint32_t consume = PURLIN_CONSUME_COPY;
  std::vector<std::vector<unsigned char>> sources, contents, destinations;
  std::vector<uint32_t> source_shift, destination_shift;  // from a multiple of 64
  bool in_place = false;                                  // destination 0 is source 0

  unsigned char* source(uint32_t r);
  unsigned char* destination(uint32_t d);
  void expose();  // puts the contents into the sources
  void spoil();   // garbage again
  // Empty, or which byte of which destination is not what the reference says, or was touched.
  std::string judge() const;
};

class Watcher {
 public:
  std::vector<Piece> pieces;
  uint64_t stop_at = ~uint64_t{0};  // ready says stop for this segment
  uint32_t most_delay = 0;          // ready takes up to so many pauses
  uint64_t depends = 0;             // ready(i) waits until done(i - depends) was called; 0: never
  std::string failure;
  uint64_t readied = 0, finished = 0;
  bool stopped = false;

  bool segment(uint64_t index, purlin_segment* out);
  bool ready(uint64_t index);
  void done(uint64_t index);
};

// `count` segments of random sizes, alignments and kinds for the constants.
std::vector<Piece> random_pieces(uint64_t seed, uint32_t count, uint64_t most_bytes);

}  // namespace purlin
