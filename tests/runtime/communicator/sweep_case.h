// One collective call with what every rank must hold afterwards; for ranks as threads and
// processes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
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

// How a call is made whose buffers lie within `memory`, guard zones included: "" or what went wrong.
// By default on them as they are; a GPU's carrier copies them there and back.
using Carrier =
    std::function<std::string(purlin_call call, std::span<const std::span<unsigned char>> memory)>;
std::string run_rank(const Case& c, int rank, const std::vector<Bytes>& inputs,
                     const Carrier& carrier);
std::string describe(const Case& c);

// The call of every rank in host memory, as purlin_run_alone takes them; then `alone(everyone)`, by
// which `rank`'s own call is made. The results of all are compared: "" or what is wrong.
using AloneCarrier = std::function<Carrier(const std::vector<purlin_call>& everyone)>;
std::string run_alone(const Case& c, int rank, const std::vector<Bytes>& inputs,
                      const AloneCarrier& alone);

}  // namespace purlin::test
