// A case of the benchmark: what each rank passes, and what its memory holds before and after.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/pieces.h"

namespace purlin::tools {

// counts[sender][receiver] in elements; a single row for all_gather_v and reduce_scatter_v, whose
// parts are the same on every rank.
using CountMatrix = std::vector<std::vector<uint64_t>>;

// Where the parts of a V form lie in its buffer.
enum class Placement {
  kPacked,   // one after the other
  kGapped,   // with unused elements before, between and behind
  kReversed  // last part first, with unused elements between
};

struct Case {
  int collective = 0, dtype = 0;
  int op = 0;    // reductions only
  int root = 0;  // rooted collectives only
  int nranks = 1;
  bool in_place = false;
  uint64_t count = 0;  // as purlin_call; unused where `counts` is
  CountMatrix counts;  // V forms and send_recv
  Placement placement = Placement::kPacked;
};

// A buffer of one rank, in elements. Both lists cover [0, count).
struct Arena {
  uint64_t count = 0;
  std::vector<Piece> before, after;
};

// An address: an element of an arena.
struct Place {
  int arena = 0;
  uint64_t offset = 0;
};

struct Transfer {
  int peer = 0;
  uint64_t offset = 0, count = 0;  // relative to the send or the recv place
};

struct RankShape {
  std::vector<Arena> arenas;  // one in place, else the send arena and the recv arena
  Place send, recv;
  uint64_t count = 0;
  std::vector<uint64_t> send_counts, send_displs, recv_counts, recv_displs;  // V forms
  std::vector<Transfer> sends, receives;                                     // send_recv
  uint64_t reduced_index = 0, reduced_count = 0;  // inputs that this rank's results are made of
};

RankShape shape_of(const Case& test, int rank);

// The parts of shape_of for collectives with a count a part, and for send_recv.
RankShape shape_with_counts(const Case& test, int rank);

// Displacements of parts with these counts; *extent is the buffer's length.
std::vector<uint64_t> displacements(const std::vector<uint64_t>& counts, Placement placement,
                                    uint64_t* extent);

// Why this collective has no in-place form, or nullptr if it has.
const char* in_place_refusal(int collective);

// Elements for one region (purlin_call's count) of a size of `bytes`, rounded down.
uint64_t count_for(int collective, uint64_t bytes, int nranks, uint64_t element_bytes);

// The size T of docs/perf.md that a case really has, in bytes.
uint64_t size_of(const Case& test);

// Bus bandwidth = algorithm bandwidth × this.
double bus_factor(int collective, int nranks);

}  // namespace purlin::tools
