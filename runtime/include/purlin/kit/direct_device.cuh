/* purlin/kit/direct_device.cuh: a pipeline without shared stages: movers load from global memory into
 * registers and store.
 *
 * A segment is dealt to the movers in blocks; the deal goes on where the last segment's ended, and
 * movers do not wait for each other, so short segments keep all of them busy.
 */
#ifndef PURLIN_KIT_DIRECT_DEVICE_CUH
#define PURLIN_KIT_DIRECT_DEVICE_CUH

#include "purlin/kit/consume_device.cuh"

namespace purlin::kit {

/* Sources in global memory. */
struct FromGlobal {
  const GrantedSegment& s;
  __device__ __forceinline__ Words16 whole(uint32_t r, uint64_t word) const {
    return load_global16(s.source[r] + word * kWordBytes);
  }
  __device__ __forceinline__ Words16 window(uint32_t r, uint64_t word, const Window& window) const {
    return load_global_window(s.source[r] + word * kWordBytes, window);
  }
};

/* All threads of the group. A segment's blocks of `block` bytes are dealt to the movers, a warp each:
 * words are read where they lie, whatever their alignment. `move(segment, range, lane)` moves one;
 * `around()` is called by each mover before and after what it moves of a segment. */
template <class Move, class Around>
static __device__ __forceinline__ void run_dealt(const purlin_group& group, void* snac, uint32_t block,
                                                 const Move& move, const Around& around) {
  auto& sides = *static_cast<Sides*>(group.shared);
  const uint32_t lane = group.thread % 32;
  const uint32_t warp = group.thread / 32;
  const uint32_t movers = constant_warps() - 2;
  begin_sides(sides, group);
  group_barrier(group, 0);
  if (warp == 0) {
    run_gate(sides, lane, snac, Cutting{block, 0});
  } else if (warp == 1) {
    run_announcer(sides, movers, lane, snac);
  } else {
    uint32_t piece = warp - 2;  // this mover's next, counted from the segment's first
    for (uint64_t i = 0; warp_awaits_grant(sides, i) == Grant::kGo; ++i) {
      const GrantedSegment& s = segment_at(sides, i);
      around();
#pragma unroll 1
      for (; piece < s.pieces; piece += movers)
        move(s, piece_range(piece, s.lead, s.span, s.step), lane);
      piece -= s.pieces;
      around();
      mark_stored(sides, warp - 2, lane, i + 1);
    }
  }
  __syncwarp();
  group_barrier(group, 0);
}

/* kAtOnce: words a thread copies at once. */
template <uint32_t kAtOnce>
static __device__ __forceinline__ void run_direct(const purlin_group& group, void* snac) {
  run_dealt(
      group, snac, kAtOnce * 32 * kWordBytes,
      [snac](const GrantedSegment& s, const Range& range, uint32_t lane) {
        consume_range<kAtOnce, 1>(s, FromGlobal{s}, range, lane, 32, snac);
      },
      [] {});
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_DIRECT_DEVICE_CUH
