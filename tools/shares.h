// How the parts of a V form differ in size: uniform, by Zipf's law, at random, or from a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/outcome.h"
#include "tools/shape.h"

namespace purlin::tools {

struct Skew {
  enum class Kind { kUniform, kZipf, kRandom, kFile } kind = Kind::kUniform;
  double exponent = 0;         // kZipf
  double zero_fraction = 0.3;  // kRandom: how many parts are empty, on average
  uint64_t seed = 1;           // kRandom
  CountMatrix file;            // kFile
};

// "uniform" or "zipf:EXPONENT".
Outcome<Skew> parse_skew(std::string_view text);

// `units` shared out in proportion to 1 / (r + 1)^exponent by largest remainder, ties to lower
// ranks.
std::vector<uint64_t> zipf_shares(uint64_t units, int nranks, double exponent);

// Elements of each of `nranks` parts that together make up at most `bytes`. Zipf shares come in
// units of max(128 bytes, bytes / 64), single elements below 128 bytes.
std::vector<uint64_t> part_counts(const Skew& skew, uint64_t bytes, int nranks,
                                  uint64_t element_bytes);

// The counts of a V form or of send_recv at size `bytes`. all_to_all_v: rank r sends share
// (p + r) mod n to rank p, so every rank sends and receives the whole size. send_recv without skew
// is a ring: rank r sends to r + 1.
CountMatrix counts_for(int collective, const Skew& skew, uint64_t bytes, int nranks,
                       uint64_t element_bytes);

// A file of whole numbers, one matrix row a line, separated by blanks or commas; '#' starts a
// comment. Needs `rows` rows of `columns`. Errors begin FILE:LINE.
Outcome<CountMatrix> read_counts(const std::string& path, int rows, int columns);

}  // namespace purlin::tools
