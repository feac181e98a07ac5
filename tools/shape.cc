#include "tools/shape.h"

#include <algorithm>
#include <numeric>

#include "purlin/purlin.h"
#include "tools/names.h"

namespace purlin::tools {
namespace {

uint64_t times(int ranks, uint64_t count) { return static_cast<uint64_t>(ranks) * count; }

Piece input(uint64_t offset, uint64_t count, int rank, uint64_t index) {
  return {offset, count, Content::kInput, rank, index};
}
Piece reduced(uint64_t offset, uint64_t count, uint64_t index) {
  return {offset, count, Content::kReduced, 0, index};
}

Arena arena(uint64_t count, const std::vector<Piece>& inputs, const std::vector<Piece>& results) {
  Arena made{count, cover(count, inputs), {}};
  made.after = overlay(made.before, results);
  return made;
}

// Separate buffers: the send buffer never changes.
void out_of_place(RankShape& shape, uint64_t send_count, const std::vector<Piece>& inputs,
                  uint64_t recv_count, const std::vector<Piece>& results) {
  shape.arenas = {arena(send_count, inputs, {}), arena(recv_count, {}, results)};
  shape.send = {0, 0};
  shape.recv = {1, 0};
}

// One buffer; send and recv are elements of it.
void in_place(RankShape& shape, uint64_t count, const std::vector<Piece>& inputs,
              const std::vector<Piece>& results, uint64_t send, uint64_t recv) {
  shape.arenas = {arena(count, inputs, results)};
  shape.send = {0, send};
  shape.recv = {0, recv};
}

// Region p of the result came from rank p, out of position `index` of its input.
std::vector<Piece> from_all(int nranks, uint64_t count, uint64_t index) {
  std::vector<Piece> pieces;
  for (int p = 0; p < nranks; ++p) pieces.push_back(input(times(p, count), count, p, index));
  return pieces;
}

void scatter_shape(const Case& test, int rank, RankShape& shape) {
  const uint64_t all = times(test.nranks, test.count);
  const uint64_t own = times(rank, test.count);
  const bool is_root = rank == test.root;
  const std::vector<Piece> inputs =
      is_root ? std::vector<Piece>{input(0, all, rank, 0)} : std::vector<Piece>{};
  if (is_root && test.in_place)
    in_place(shape, all, inputs, {}, 0, own);
  else
    out_of_place(shape, is_root ? all : test.count, inputs, test.count,
                 {input(0, test.count, test.root, own)});
}

void gather_shape(const Case& test, int rank, RankShape& shape) {
  const uint64_t all = times(test.nranks, test.count);
  const uint64_t own = times(rank, test.count);
  const bool is_root = rank == test.root;
  if (is_root && test.in_place)
    in_place(shape, all, {input(own, test.count, rank, 0)}, from_all(test.nranks, test.count, 0),
             own, 0);
  else
    out_of_place(shape, test.count, {input(0, test.count, rank, 0)}, is_root ? all : test.count,
                 is_root ? from_all(test.nranks, test.count, 0) : std::vector<Piece>{});
}

// Collectives whose buffer is `count` elements on both sides.
void whole_buffer_shape(const Case& test, int rank, bool gives, const std::vector<Piece>& results,
                        RankShape& shape) {
  const std::vector<Piece> inputs =
      gives ? std::vector<Piece>{input(0, test.count, rank, 0)} : std::vector<Piece>{};
  if (test.in_place)
    in_place(shape, test.count, inputs, results, 0, 0);
  else
    out_of_place(shape, test.count, inputs, test.count, results);
}

}  // namespace

RankShape shape_of(const Case& test, int rank) {
  if (takes_counts(test.collective) || test.collective == PURLIN_SEND_RECV)
    return shape_with_counts(test, rank);
  RankShape shape;
  shape.count = test.count;
  const uint64_t count = test.count;
  const uint64_t all = times(test.nranks, count);
  const uint64_t own = times(rank, count);
  switch (test.collective) {
    case PURLIN_ALL_REDUCE:
    case PURLIN_REDUCE:
      if (test.collective == PURLIN_ALL_REDUCE || rank == test.root) shape.reduced_count = count;
      whole_buffer_shape(
          test, rank, true,
          shape.reduced_count ? std::vector<Piece>{reduced(0, count, 0)} : std::vector<Piece>{},
          shape);
      break;
    case PURLIN_BROADCAST:
      whole_buffer_shape(test, rank, rank == test.root, {input(0, count, test.root, 0)}, shape);
      break;
    case PURLIN_ALL_GATHER:
      if (test.in_place)
        in_place(shape, all, {input(own, count, rank, 0)}, from_all(test.nranks, count, 0), own, 0);
      else
        out_of_place(shape, count, {input(0, count, rank, 0)}, all,
                     from_all(test.nranks, count, 0));
      break;
    case PURLIN_REDUCE_SCATTER:
      shape.reduced_index = own;
      shape.reduced_count = count;
      if (test.in_place)
        in_place(shape, all, {input(0, all, rank, 0)}, {reduced(own, count, own)}, 0, own);
      else
        out_of_place(shape, all, {input(0, all, rank, 0)}, count, {reduced(0, count, own)});
      break;
    case PURLIN_ALL_TO_ALL:
      if (test.in_place)
        in_place(shape, all, {input(0, all, rank, 0)}, from_all(test.nranks, count, own), 0, 0);
      else
        out_of_place(shape, all, {input(0, all, rank, 0)}, all, from_all(test.nranks, count, own));
      break;
    case PURLIN_SCATTER:
      scatter_shape(test, rank, shape);
      break;
    case PURLIN_GATHER:
      gather_shape(test, rank, shape);
      break;
    default:
      break;  // a barrier has no buffers
  }
  return shape;
}

const char* in_place_refusal(int collective) {
  switch (collective) {
    case PURLIN_ALL_TO_ALL_V:
      return "parts of different sizes would overlap parts not yet sent";
    case PURLIN_SEND_RECV:
      return "a message cannot be received where it is sent from";
    case PURLIN_BARRIER:
      return "a barrier has no buffers";
    default:
      return nullptr;
  }
}

uint64_t count_for(int collective, uint64_t bytes, int nranks, uint64_t element_bytes) {
  const uint64_t elements = bytes / element_bytes;
  switch (collective) {
    case PURLIN_ALL_REDUCE:
    case PURLIN_BROADCAST:
    case PURLIN_REDUCE:
    case PURLIN_SEND_RECV:
      return elements;
    case PURLIN_BARRIER:
      return 0;
    default:
      return elements / static_cast<uint64_t>(nranks);
  }
}

uint64_t size_of(const Case& test) {
  const uint64_t element_bytes = dtype_bytes(test.dtype);
  if (takes_counts(test.collective) || test.collective == PURLIN_SEND_RECV) {
    uint64_t most = 0;
    for (const auto& row : test.counts)
      most = std::max(most, std::accumulate(row.begin(), row.end(), uint64_t{0}));
    return most * element_bytes;
  }
  switch (test.collective) {
    case PURLIN_ALL_REDUCE:
    case PURLIN_BROADCAST:
    case PURLIN_REDUCE:
      return test.count * element_bytes;
    case PURLIN_BARRIER:
      return 0;
    default:
      return times(test.nranks, test.count) * element_bytes;
  }
}

double bus_factor(int collective, int nranks) {
  const double n = nranks;
  switch (collective) {
    case PURLIN_ALL_REDUCE:
      return 2 * (n - 1) / n;
    case PURLIN_BROADCAST:
    case PURLIN_REDUCE:
    case PURLIN_SEND_RECV:
      return 1;
    case PURLIN_BARRIER:
      return 0;
    default:
      return (n - 1) / n;
  }
}

}  // namespace purlin::tools
