// Walks of segments over memory of a GPU, played to an Atom in place of SNAC, with every rule
// watched: what tools/check/board.h is to host Atoms.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "tools/check/gpu/atom_on_gpu.h"
#include "tools/check/gpu/format.h"
#include "tools/check/piece.h"

namespace purlin::tools::check {

// One group's segments, as an image of the device memory around them.
class GpuWalk {
 public:
  explicit GpuWalk(const ProgramSpec& program) : program_(program) {}

  uint64_t stop_at = ~uint64_t{0};  // ready says stop at this segment
  bool lockstep = false;            // a segment is permitted once the one before is done
  uint32_t most_delay_ns = 0;       // before each segment's sources are there: at random up to this
  uint64_t scalar = 0;              // of PURLIN_CONSUME_SCALE

  // Prepares memory and the expected result. Copies, and what the program is linked for.
  void add(const Piece& piece, std::mt19937_64& random);
  uint64_t segments() const { return segments_.size(); }

  // The device's side: bytes needed, and what they hold if they begin at `base`.
  uint64_t bytes() const { return table_at() + segments_.size() * sizeof(WalkSegment); }
  Bytes contents(uint64_t base) const;
  WalkBoard board(uint64_t base) const;

  // The first broken rule in words, empty if there is none, from what lies there afterwards.
  std::string judge(const WalkBoard& after, const Bytes& memory) const;

 private:
  // Of the segments' descriptions, behind the image.
  uint64_t table_at() const { return (image_.size() + 15) / 16 * 16; }
  // A stretch of the image that a segment uses.
  struct Region {
    uint64_t at = 0, bytes = 0;
    size_t segment = 0;
    bool target = false;
    size_t index = 0;  // of the segment's sources or targets
  };
  uint64_t place(const Region& region, unsigned shift);
  uint64_t append(const Bytes& bytes);
  std::string title(uint64_t index) const;
  std::string judge_calls(const WalkReport& report) const;
  std::string judge_memory(const WalkReport& report, const Bytes& memory) const;
  std::string name_place(uint64_t at) const;

  ProgramSpec program_;
  Bytes image_;                        // before the walk
  std::vector<WalkSegment> segments_;  // addresses are places in the image
  std::vector<Piece> pieces_;
  std::vector<Region> regions_;
};

// Runs walks on one program, as many groups at once as the GPU has room for with every CTA on a
// multiprocessor of its own; `groups` of them share a CTA. The first broken rule in words. Errors
// of the GPU are faults too.
std::string run_walks(AtomOnGpu& atom, const Program& program, const std::vector<GpuWalk>& walks,
                      uint32_t groups = 1);

}  // namespace purlin::tools::check
