// One collective call with what every rank must hold afterwards; for ranks as threads and
// processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "purlin/purlin.h"

namespace purlin::test {

struct Case {
  int collective, n, dtype, op, path;
  uint64_t count, offset;
  bool in_place;
  int root;
  uint64_t seed;  // of all ranks' inputs
};

inline bool reduces(int c) {
  return c == PURLIN_ALL_REDUCE || c == PURLIN_REDUCE_SCATTER || c == PURLIN_REDUCE;
}

// Small staging, so that messages of some KiB take several rounds.
extern const char* const kSmallStaging;
// The most elements of `bytes_per_element` in a latency call that is forced under kSmallStaging,
// with up to 16 ranks.
constexpr uint64_t most_forced_packets(uint64_t bytes_per_element) {
  return 512 / bytes_per_element;
}

// What every rank sends in `c`.
using Bytes = std::vector<unsigned char>;
std::vector<Bytes> inputs_of(const Case& c);

// Carries out `c` as `rank` and compares every byte with the serial reference: the result, the
// guard zones, and the input unless it is overwritten. "" or what is wrong. Called by all ranks at
// once.
std::string run_rank(const Case& c, int rank, const std::vector<Bytes>& inputs, purlin_comm_t comm);
std::string describe(const Case& c);

}  // namespace purlin::test
