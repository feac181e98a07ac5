// What flows between two ranks in each step of a call, derived from the layouts.
#pragma once

#include "snac/call.h"

namespace purlin::snac {

// How the user's buffers and a share are divided, on one rank.
struct Shapes {
  BufferShape input;   // of step 0
  BufferShape middle;  // two steps: part_bytes of one region of a share; its total is the share
  BufferShape output;  // of the last step
};

// The share that rank `c` holds between two steps, seen as regions for the second step.
PURLIN_HD BufferShape share_shape(const Transformation& t, const Shapes& shapes, u32 n, u32 c) {
  BufferShape shape = shapes.middle;
  shape.total_bytes = region_extent(shapes.input, t.steps[0].input, n, c, c).bytes;
  if (shares_input(t.steps[1])) shape.part_bytes = shape.total_bytes;
  return shape;
}

// What `rank` offers to `to` in `step`: a place in the user's input (step 0) or in the share.
PURLIN_HD Extent send_extent(const Transformation& t, const Shapes& shapes, u32 n, u32 root, u32 rank,
                             u32 step, u32 to) {
  if (!flows(t.steps[step], n, root, rank, to)) return {};
  const BufferShape shape = step == 0 ? shapes.input : share_shape(t, shapes, n, rank);
  return region_extent(shape, t.steps[step].input, n, rank, to);
}

// What `rank` takes from `from` in `step`: a place in the share (step 0 of two) or in the output.
PURLIN_HD Extent receive_extent(const Transformation& t, const Shapes& shapes, u32 n, u32 root,
                                u32 rank, u32 step, u32 from) {
  if (!flows(t.steps[step], n, root, from, rank)) return {};
  if (step + 1 < t.step_count) return {0, share_shape(t, shapes, n, rank).total_bytes};
  return region_extent(shapes.output, t.steps[step].output, n, rank, from);
}

// `geometry` says who holds the staging; set_geometry has seen to it that it can.
PURLIN_HD Form form_of(const Transformation& t, u32 n, const Geometry& geometry) {
  Form form;
  form.steps = t.step_count;
  form.reduces = t.steps[0].consume == Consume::kReduce;
  form.shared[0] = shares_input(t.steps[0]);
  form.shared[1] = t.step_count == 2 && shares_input(t.steps[1]);
  form.parts = t.step_count == 2 && !form.shared[1];
  form.everyone = t.step_count == 1 || t.steps[1].consumers.kind == RankSetKind::kAll;
  for (u32 step = 0; step < 2; ++step) form.push[step] = geometry.direction[step] == Direction::kPush;
  form.sources = t.steps[0].stagers.kind == RankSetKind::kMask
                     ? t.steps[0].stagers.mask & all_ranks(n)
                     : all_ranks(n);
  return form;
}

// The switch moves whole regions by one rule, wherever they lie.
PURLIN_HD Form switch_form_of(const Transformation& t, u32 n) {
  Form form;
  form.steps = t.step_count;
  form.reduces = t.steps[0].consume == Consume::kReduce;
  form.sources = all_ranks(n);
  return form;
}

// Fills the flows of `p` (nranks and rank are set) and the signatures of its pairs; `call_hash` is 0
// when checking is off.
template <class Params>
PURLIN_HD void set_flows(const Transformation& t, const Shapes& shapes, u32 root, u64 call_hash,
                         Params* p) {
  const u32 n = p->nranks;
  p->own = shares_input(t.steps[0]) && contains(t.steps[0].stagers, p->rank, root)
               ? region_extent(shapes.input, t.steps[0].input, n, p->rank, p->rank)
               : Extent{};
  p->share_bytes = 0;
  p->part_bytes = 0;
  if (t.step_count == 2) {
    const BufferShape share = share_shape(t, shapes, n, p->rank);
    p->share_bytes = contains(t.steps[0].consumers, p->rank, root) ? share.total_bytes : 0;
    p->part_bytes = share.part_bytes;
  }
  for (u32 peer = 0; peer < n; ++peer) {
    for (u32 step = 0; step < t.step_count; ++step) {
      p->send[step][peer] = send_extent(t, shapes, n, root, p->rank, step, peer);
      p->receive[step][peer] = receive_extent(t, shapes, n, root, p->rank, step, peer);
    }
    p->send_signature[peer] = pair_signature(call_hash, p->send[0][peer].bytes);
    p->receive_signature[peer] = pair_signature(call_hash, p->receive[0][peer].bytes);
  }
}

// Ranks whose parts this rank combines: not all stagers need have a region for it. `otherwise` when
// nothing flows here.
template <class Params>
PURLIN_HD u64 sources_of(const Params& p, u64 otherwise) {
  u64 sources = 0;
  for (u32 s = 0; s < p.nranks; ++s)
    if (p.receive[0][s].bytes != 0) sources |= u64{1} << s;
  return sources != 0 ? sources : otherwise;
}

// How one stream is cut into chunks. Regions of `part_bytes` are cut one after another, so that no
// chunk crosses a region's end; part_bytes == bytes unless a share holds several regions.
struct Cut {
  u64 bytes = 0;
  u64 part_bytes = 0;
  u32 shift = 4;

  PURLIN_HD u32 chunks_of(u64 some) const {
    return static_cast<u32>((some + (u64{1} << shift) - 1) >> shift);
  }
  PURLIN_HD u32 chunks_per_part() const { return chunks_of(part_bytes); }
  PURLIN_HD u32 chunks() const {
    if (part_bytes >= bytes) return chunks_of(bytes);
    const u64 whole = bytes / part_bytes;
    return static_cast<u32>(whole) * chunks_per_part() + chunks_of(bytes - whole * part_bytes);
  }
  PURLIN_HD Extent chunk(u32 index) const {
    const u64 size = u64{1} << shift;
    if (part_bytes >= bytes) {
      const u64 offset = u64{index} << shift;
      return {offset, smaller(size, bytes - offset)};
    }
    const u32 part = index / chunks_per_part();
    const u64 begin = u64{part} * part_bytes;
    const u64 offset = begin + (u64{index - part * chunks_per_part()} << shift);
    return {offset, smaller(size, smaller(begin + part_bytes, bytes) - offset)};
  }
};

}  // namespace purlin::snac
