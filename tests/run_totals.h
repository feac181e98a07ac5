// What a test process counted, for its last line.
#pragma once

#include <cstdint>

namespace purlin::test {

struct RunTotals {
  uint64_t cases;
  uint64_t skips;
};

RunTotals run_totals();

}  // namespace purlin::test
