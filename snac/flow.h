// What flows between two ranks in each step of a call, derived from the layouts.
#pragma once

#include "snac/call.h"

namespace purlin::snac {

// The share that rank `c` holds between two steps, seen as regions for the second step.
PURLIN_HD BufferShape share_shape(const Transformation& t, const CallParams& p, u32 c) {
  BufferShape shape = p.middle;
  shape.total_bytes = region_extent(p.input, t.steps[0].input, p.nranks, c, c).bytes;
  if (shares_input(t.steps[1])) shape.part_bytes = shape.total_bytes;
  return shape;
}

// What own rank offers to `to` in `step`: a place in the user's input (step 0) or in the share.
PURLIN_HD Extent send_extent(const Transformation& t, const CallParams& p, u32 step, u32 to) {
  if (!flows(t.steps[step], p.nranks, p.root, p.rank, to)) return {};
  const BufferShape shape = step == 0 ? p.input : share_shape(t, p, p.rank);
  return region_extent(shape, t.steps[step].input, p.nranks, p.rank, to);
}

// What own rank takes from `from` in `step`: a place in the share (step 0 of two) or in the output.
PURLIN_HD Extent receive_extent(const Transformation& t, const CallParams& p, u32 step, u32 from) {
  if (!flows(t.steps[step], p.nranks, p.root, from, p.rank)) return {};
  if (step + 1 < t.step_count) return {0, share_shape(t, p, p.rank).total_bytes};
  return region_extent(p.output, t.steps[step].output, p.nranks, p.rank, from);
}

// One stream of chunks. Within a stream, regions of `part_bytes` are cut one after another, so that
// no chunk crosses a region's end; part_bytes == bytes unless a share holds several regions.
struct Cut {
  u64 bytes = 0;
  u64 part_bytes = 0;
  u64 chunk_bytes = 1;

  PURLIN_HD u64 chunks_per_part() const { return divide_up(part_bytes, chunk_bytes); }
  PURLIN_HD u64 chunks() const {
    if (bytes == 0) return 0;
    if (part_bytes >= bytes) return divide_up(bytes, chunk_bytes);
    const u64 whole = bytes / part_bytes;
    return whole * chunks_per_part() + divide_up(bytes - whole * part_bytes, chunk_bytes);
  }
  PURLIN_HD Extent chunk(u64 index) const {
    if (part_bytes >= bytes) {
      const u64 offset = index * chunk_bytes;
      return {offset, smaller(chunk_bytes, bytes - offset)};
    }
    const u64 part = index / chunks_per_part();
    const u64 within = (index - part * chunks_per_part()) * chunk_bytes;
    const u64 end = smaller((part + 1) * part_bytes, bytes);
    const u64 offset = part * part_bytes + within;
    return {offset, smaller(chunk_bytes, end - offset)};
  }
};

// How the stream of `bytes` bytes of `step` is cut.
PURLIN_HD Cut cut_stream(const Transformation& t, const CallParams& p, u64 bytes) {
  const bool several = t.step_count == 2 && !shares_input(t.steps[1]);
  return Cut{bytes, several ? p.middle.part_bytes : bytes, p.geometry.chunk_bytes};
}

// Bytes that own rank expects from `from` in the first step: what the pair's header must say.
PURLIN_HD u64 expected_bytes(const Transformation& t, const CallParams& p, u32 from) {
  return receive_extent(t, p, 0, from).bytes;
}

// The same two for the pairs that use packets; no bytes for the others.
PURLIN_HD Extent packets_out(const Transformation& t, const CallParams& p, u32 step, u32 to) {
  const Extent extent = send_extent(t, p, step, to);
  return extent.bytes <= p.pair_limit ? extent : Extent{extent.offset, 0};
}
PURLIN_HD Extent packets_in(const Transformation& t, const CallParams& p, u32 step, u32 from) {
  const Extent extent = receive_extent(t, p, step, from);
  return extent.bytes <= p.pair_limit ? extent : Extent{extent.offset, 0};
}

PURLIN_HD bool peer_sends_packets(const Transformation& t, const CallParams& p, u32 from) {
  if (packets_in(t, p, 0, from).bytes != 0) return true;
  return t.step_count == 2 && packets_in(t, p, 1, from).bytes != 0;
}

}  // namespace purlin::snac
