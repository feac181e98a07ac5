#include "snac/plan.h"

#include "snac/flow.h"

namespace purlin::snac {
namespace {

BufferShape uniform(u64 part, u64 total) { return BufferShape{part, total, nullptr, nullptr, 1}; }

BufferShape listed(const u64* counts, const u64* displs, u64 element_bytes) {
  return BufferShape{0, 0, counts, displs, element_bytes};
}

// Regions of `part` bytes each, as many as the layout spans.
BufferShape regions(const Layout& layout, u32 n, u64 part) {
  return uniform(part, span_in_regions(layout, n) * part);
}

std::string refuse_step(const Step& step, u32 n, const std::string& name) {
  u64 stagers = 0;
  u64 consumers = 0;
  for (u32 r = 0; r < n; ++r) {
    // A rooted set has one member whoever it is; rank 0 stands for it.
    if (contains(step.stagers, r, 0)) stagers |= u64{1} << r;
    if (contains(step.consumers, r, 0)) consumers |= u64{1} << r;
  }
  if (stagers == 0) return name + " has no stagers among the ranks";
  if (consumers == 0) return name + " has no consumers among the ranks";
  for (const Layout* layout : {&step.input, &step.output}) {
    if (layout->kind != LayoutKind::kPacked && region_count(*layout, n) == 0)
      return name + " has a layout none of whose members exists at " + std::to_string(n) + " ranks";
  }
  if (step.consume == Consume::kReduce && step.output.kind != LayoutKind::kPacked)
    return name + " reduces, so all sources become one region: its output must be packed; to spread "
                  "the result, add a step that copies from packed";
  if (step.consume == Consume::kCopy && step.output.kind == LayoutKind::kPacked &&
      count_bits(stagers) > 1)
    return name + " copies from several ranks into one packed region: they would overwrite each "
                  "other; reduce, or give the output a region for each rank";
  return {};
}

}  // namespace

std::string refuse_transformation(const Transformation& t, u32 n) {
  if (t.step_count < 1 || t.step_count > 2)
    return "a transformation has one or two steps, this one has " + std::to_string(t.step_count);
  if (std::string why = refuse_step(t.steps[0], n, "step 1"); !why.empty()) return why;
  if (t.step_count == 1) return {};
  if (std::string why = refuse_step(t.steps[1], n, "step 2"); !why.empty()) return why;
  const Step& first = t.steps[0];
  const Step& second = t.steps[1];
  if (first.output.kind != LayoutKind::kPacked)
    return "step 1 must end packed, so that each rank holds one share for step 2";
  if (first.input.kind == LayoutKind::kPacked)
    return "step 1 must begin scattered or transposed, so that the ranks' shares are different parts";
  if (first.input.relative || second.input.relative)
    return "steps that are composed must name members by rank, not by distance";
  if (second.consume == Consume::kReduce)
    return "step 2 cannot reduce: each rank holds one share after step 1";
  for (u32 r = 0; r < n; ++r) {
    if (contains(second.stagers, r, 0) && !contains(first.consumers, r, 0))
      return "rank " + std::to_string(r) + " stages in step 2 what it does not consume in step 1";
    if (contains(first.consumers, r, 0) && !has_region(first.input, n, r, r))
      return "rank " + std::to_string(r) + " consumes in step 1 but step 1 has no region for it";
  }
  return {};
}

Shapes shapes_of(Collective collective, const Transformation& t, const CallSizes& sizes, bool one_shot,
                 u32 n, u32 rank) {
  Shapes shapes;
  const u64 es = sizes.element_bytes;
  const u64 bytes = sizes.count * es;
  switch (collective) {
    case Collective::kAllReduce:
    case Collective::kBroadcast:
    case Collective::kReduce:
      shapes.input = shapes.output =
          one_shot ? uniform(bytes, bytes) : uniform(share_bytes(sizes.count, n, es), bytes);
      return shapes;
    case Collective::kAllGatherV:
      shapes.input = listed(sizes.recv_counts + rank, nullptr, es);
      shapes.output = listed(sizes.recv_counts, sizes.recv_displs, es);
      return shapes;
    case Collective::kReduceScatterV:
      shapes.input = listed(sizes.send_counts, sizes.send_displs, es);
      shapes.output = listed(sizes.send_counts + rank, nullptr, es);
      return shapes;
    case Collective::kAllToAllV:
      shapes.input = listed(sizes.send_counts, sizes.send_displs, es);
      shapes.output = listed(sizes.recv_counts, sizes.recv_displs, es);
      return shapes;
    default:
      break;
  }
  shapes.input = regions(t.steps[0].input, n, bytes);
  if (t.step_count == 1) {
    shapes.output = regions(t.steps[0].output, n, bytes);
    return shapes;
  }
  const u64 part = bytes / region_count(t.steps[1].input, n);
  shapes.middle = uniform(part, bytes);
  shapes.output = regions(t.steps[1].output, n, part);
  return shapes;
}

Geometry set_geometry(const Transformation& t, u32 n, u64 half_bytes, u64 chunk_bytes,
                      Direction first, Direction second) {
  Geometry g;
  g.direction[0] = first;
  // Pushing a share that several, but not all, ranks want is not offered: they pull it.
  const bool some = t.step_count == 2 && t.steps[1].consumers.kind == RankSetKind::kMask;
  g.direction[1] = some ? Direction::kPull : second;
  u64 streams[2] = {0, 0};
  for (u32 step = 0; step < t.step_count; ++step) {
    const bool shared = shares_input(t.steps[step]) && g.direction[step] == Direction::kPull;
    streams[step] = shared ? 1 : n;
  }
  const u64 all = streams[0] + streams[1];
  const u64 most = smaller(chunk_bytes, half_bytes / all);
  while (g.chunk_shift < 30 && (u64{2} << g.chunk_shift) <= most) ++g.chunk_shift;
  g.slots = static_cast<u32>(
      larger(1, smaller(kMaxSlots, half_bytes / (all * g.chunk_bytes()))));
  g.step_offset[1] = streams[0] * g.slots * g.chunk_bytes();
  return g;
}

Geometry set_switch_geometry(u32 n, u64 half_bytes, u64 chunk_bytes) {
  Geometry g;
  const u64 most = smaller(chunk_bytes, half_bytes / n);
  while (g.chunk_shift < 30 && (u64{2} << g.chunk_shift) <= most) ++g.chunk_shift;
  g.slots = static_cast<u32>(larger(1, smaller(kMaxSlots, half_bytes / (n * g.chunk_bytes()))));
  return g;
}

u64 longest_pair(const Transformation& t, const CallParams& p) {
  u64 longest = 0;
  for (u32 step = 0; step < t.step_count; ++step)
    for (u32 r = 0; r < p.nranks; ++r)
      longest = larger(longest, larger(p.send[step][r].bytes, p.receive[step][r].bytes));
  return longest;
}

}  // namespace purlin::snac
