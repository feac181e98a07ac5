// Shapes of the collectives with a count a part, and of send_recv.
#include <algorithm>

#include "purlin/purlin.h"
#include "tools/shape.h"

namespace purlin::tools {
namespace {

constexpr uint64_t kGap = 17;  // odd, so that parts behind it are unaligned

size_t at(int rank) { return static_cast<size_t>(rank); }

RankShape all_gather_v(const Case& test, int rank) {
  RankShape shape;
  uint64_t extent = 0;
  shape.send_counts = shape.recv_counts = test.counts.front();
  shape.send_displs = shape.recv_displs = displacements(shape.recv_counts, test.placement, &extent);
  const uint64_t own_count = shape.recv_counts[at(rank)];
  const uint64_t own_place = shape.recv_displs[at(rank)];
  std::vector<Piece> results;
  for (int p = 0; p < test.nranks; ++p)
    results.push_back({shape.recv_displs[at(p)], shape.recv_counts[at(p)], Content::kInput, p, 0});
  if (test.in_place) {
    const auto before = cover(extent, {{own_place, own_count, Content::kInput, rank, 0}});
    shape.arenas = {{extent, before, overlay(before, results)}};
    shape.send = {0, own_place};
    shape.recv = {0, 0};
  } else {
    const auto inputs = cover(own_count, {{0, own_count, Content::kInput, rank, 0}});
    shape.arenas = {{own_count, inputs, inputs},
                    {extent, cover(extent, {}), cover(extent, results)}};
    shape.recv = {1, 0};
  }
  return shape;
}

RankShape reduce_scatter_v(const Case& test, int rank) {
  RankShape shape;
  uint64_t extent = 0;
  shape.send_counts = shape.recv_counts = test.counts.front();
  shape.send_displs = shape.recv_displs = displacements(shape.send_counts, test.placement, &extent);
  const uint64_t own_count = shape.send_counts[at(rank)];
  const uint64_t own_place = shape.send_displs[at(rank)];
  std::vector<Piece> inputs;
  for (int p = 0; p < test.nranks; ++p)
    inputs.push_back({shape.send_displs[at(p)], shape.send_counts[at(p)], Content::kInput, rank,
                      shape.send_displs[at(p)]});
  const auto before = cover(extent, inputs);
  shape.reduced_index = own_place;
  shape.reduced_count = own_count;
  if (test.in_place) {
    shape.arenas = {{extent, before,
                     overlay(before, {{own_place, own_count, Content::kReduced, 0, own_place}})}};
    shape.recv = {0, own_place};
  } else {
    shape.arenas = {{extent, before, before},
                    {own_count, cover(own_count, {}),
                     cover(own_count, {{0, own_count, Content::kReduced, 0, own_place}})}};
    shape.recv = {1, 0};
  }
  return shape;
}

// all_to_all_v, and send_recv, which moves the same parts one by one.
RankShape exchange(const Case& test, int rank) {
  RankShape shape;
  uint64_t send_extent = 0, recv_extent = 0;
  shape.send_counts = test.counts[at(rank)];
  for (int p = 0; p < test.nranks; ++p) shape.recv_counts.push_back(test.counts[at(p)][at(rank)]);
  shape.send_displs = displacements(shape.send_counts, test.placement, &send_extent);
  shape.recv_displs = displacements(shape.recv_counts, test.placement, &recv_extent);
  std::vector<Piece> inputs, results;
  for (int p = 0; p < test.nranks; ++p) {
    const uint64_t send_displ = shape.send_displs[at(p)], recv_displ = shape.recv_displs[at(p)];
    const uint64_t sent = shape.send_counts[at(p)], received = shape.recv_counts[at(p)];
    inputs.push_back({send_displ, sent, Content::kInput, rank, send_displ});
    uint64_t unused = 0;
    const auto peer_displs = displacements(test.counts[at(p)], test.placement, &unused);
    results.push_back({recv_displ, received, Content::kInput, p, peer_displs[at(rank)]});
    if (sent > 0) shape.sends.push_back({p, send_displ, sent});
    if (received > 0) shape.receives.push_back({p, recv_displ, received});
  }
  const auto sent = cover(send_extent, inputs);
  shape.arenas = {{send_extent, sent, sent},
                  {recv_extent, cover(recv_extent, {}), cover(recv_extent, results)}};
  shape.recv = {1, 0};
  return shape;
}

}  // namespace

std::vector<uint64_t> displacements(const std::vector<uint64_t>& counts, Placement placement,
                                    uint64_t* extent) {
  std::vector<uint64_t> places(counts.size());
  const uint64_t gap = placement == Placement::kPacked ? 0 : kGap;
  uint64_t next = gap;
  for (size_t i = 0; i < counts.size(); ++i) {
    const size_t part = placement == Placement::kReversed ? counts.size() - 1 - i : i;
    places[part] = next;
    next += counts[part] + gap;
  }
  *extent = next;
  return places;
}

RankShape shape_with_counts(const Case& test, int rank) {
  switch (test.collective) {
    case PURLIN_ALL_GATHER_V:
      return all_gather_v(test, rank);
    case PURLIN_REDUCE_SCATTER_V:
      return reduce_scatter_v(test, rank);
    default:
      return exchange(test, rank);
  }
}

}  // namespace purlin::tools
