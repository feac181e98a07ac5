/* purlin/kit/warp_ring_device.cuh: each mover warp has a ring of stages of its own in shared
 * memory, filled by asynchronous copies of 16 bytes and emptied by the same warp.
 *
 * A warp takes every movers-th piece of all segments, so its ring runs on across segments. It
 * fetches whenever a stage is free and the next segment is granted, and otherwise stores what it
 * has: it waits for a grant only once nothing is left to store.
 */
#ifndef PURLIN_KIT_WARP_RING_DEVICE_CUH
#define PURLIN_KIT_WARP_RING_DEVICE_CUH

#include "purlin/kit/async_device.cuh"
#include "purlin/kit/consume_device.cuh"
#include "purlin/kit/staged_device.cuh"

namespace purlin::kit {

template <uint32_t kAtOnce>
class WarpRing {
 public:
  __device__ __forceinline__ WarpRing(const purlin_group& group, Sides& sides, void* snac)
      : sides_(sides), snac_(snac), lane_(group.thread % 32), mover_(group.thread / 32 - 2) {
    ring_ = shared_address(group.shared) + kBeforeRing + mover_ * stages_ * stage_bytes_;
    fetch_.piece = store_.piece = mover_;
  }

  /* Of each mover. */
  static __device__ __forceinline__ uint32_t stage_bytes() {
    return slot_bytes(static_cast<uint32_t>(purlin_constant_stage_bytes_d2()), constant_warps() - 2,
                      16);
  }

  /* A mover's whole life: each turn takes one step with one of the two cursors. */
  __device__ __forceinline__ void run() {
    uint32_t filled = 0;
    bool may_fetch = true;
    for (;;) {
      const bool fetching = may_fetch && filled < stages_;
      Cursor cursor = fetching ? fetch_ : store_;
      const Grant grant = agree(look_at_grant(sides_, cursor.segment));
      if (grant == Grant::kStopped) break;
      if (grant != Grant::kGo) {
        if (!fetching && filled == 0 && grant == Grant::kEnded) break;
        may_fetch = !fetching;  // store what there is; look again afterwards
        continue;
      }
      const GrantedSegment& s = segment_at(sides_, cursor.segment);
      if (cursor.piece >= s.pieces) {
        cursor.piece -= s.pieces;
        ++cursor.segment;
        if (!fetching) mark_stored(sides_, mover_, lane_, cursor.segment);
      } else if (!fetching && filled == 0) {
        may_fetch = true;  // granted since the fetching cursor looked
        continue;
      } else {
        const Range range = piece_range(cursor.piece, s.lead, s.span, s.step);
        const uint32_t stage = ring_ + cursor.stage * stage_bytes_;
        if (fetching)
          fetch(s, range, stage);
        else
          store(s, range, stage, filled == stages_);
        filled = fetching ? filled + 1 : filled - 1;
        may_fetch = true;
        cursor.piece += movers_;
        cursor.stage = cursor.stage + 1 == stages_ ? 0 : cursor.stage + 1;
      }
      if (fetching)
        fetch_ = cursor;
      else
        store_ = cursor;
    }
    await_copies<0>();
  }

 private:
  struct Cursor {
    uint64_t segment = 0;
    uint32_t piece = 0;  // of that segment, or beyond its last
    uint32_t stage = 0;
  };

  __device__ __forceinline__ void fetch(const GrantedSegment& s, const Range& range,
                                        uint32_t stage) {
    __syncwarp();  // all lanes have read what the stage held
    if (range.begin < range.end) {
#pragma unroll 1
      for (uint32_t r = 0; r < s.sources; ++r, stage += s.slot) {
        const Range words = enclosing_words(s.source[r], range);
#pragma unroll 4
        for (uint64_t at = words.begin + lane_ * 16; at < words.end; at += 32 * 16)
          copy_async16(stage + static_cast<uint32_t>(at - words.begin), at);
      }
    }
    commit_copies();
  }

  __device__ __forceinline__ void store(const GrantedSegment& s, const Range& range, uint32_t stage,
                                        bool full) {
    // Of a full ring only the oldest piece need have arrived.
    if (full)
      await_oldest_copy(stages_);
    else
      await_copies<0>();
    __syncwarp();
    consume_range<kAtOnce, 1>(s, FromStage{s, stage, range.begin}, range, lane_, 32, snac_);
  }

  Sides& sides_;
  void* const snac_;
  const uint32_t lane_;
  const uint32_t mover_;
  const uint32_t movers_ = constant_warps() - 2;
  const uint32_t stages_ = static_cast<uint32_t>(purlin_constant_stages_d2());
  const uint32_t stage_bytes_ = stage_bytes();
  uint32_t ring_;
  Cursor fetch_, store_;
};

/* All threads of the group. */
template <uint32_t kAtOnce>
static __device__ __forceinline__ void run_warp_rings(const purlin_group& group, void* snac) {
  auto& sides = *static_cast<Sides*>(group.shared);
  const uint32_t lane = group.thread % 32;
  const uint32_t warp = group.thread / 32;
  begin_sides(sides, group);
  group_barrier(group, 0);
  if (warp == 0) {
    run_gate(sides, lane, snac, Cutting{WarpRing<kAtOnce>::stage_bytes(), 16});
  } else if (warp == 1) {
    run_announcer(sides, constant_warps() - 2, lane, snac);
  } else {
    WarpRing<kAtOnce>(group, sides, snac).run();
  }
  __syncwarp();
  group_barrier(group, 0);
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_WARP_RING_DEVICE_CUH
