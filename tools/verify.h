// Preparing a rank's memory for a checked call, and judging it afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/guarded_buffer.h"
#include "tools/inputs.h"
#include "tools/rank_link.h"
#include "tools/shape.h"

namespace purlin::tools {

// Inputs and poison as the shape's `before` lists say. Buffer a belongs to arena a.
void prepare(const RankShape& shape, const InputSource& source,
             std::vector<GuardedBuffer>& buffers);

struct Verdict {
  uint64_t wrong = 0;              // elements that differ, in results and in what must not change,
                                   // plus one for each damaged guard zone
  std::vector<std::string> notes;  // what and where, the first few
};

// Compares every element of every arena with `after`, bit for bit, and looks at the guards. Results
// of all_reduce and reduce are worked out once a process, in slices by its ranks, so all of them
// must call it together.
Verdict verify(const Case& test, const RankShape& shape, const InputSource& source,
               const std::vector<GuardedBuffer>& buffers, RankLink& link);

// Elements first … first + count - 1 of the reduction of all ranks' inputs.
void expected_reduction(const Case& test, const InputSource& source, uint64_t first, uint64_t count,
                        unsigned char* out);

}  // namespace purlin::tools
