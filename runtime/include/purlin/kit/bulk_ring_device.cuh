/* purlin/kit/bulk_ring_device.cuh: bulk copies into one ring of stages of the whole group.
 *
 * Warps: 0 gate, 1 announces, 2 fetches (a lane a source), 3 stores in bulk (one thread: votes would
 * cost more than they share), the rest process. Every piece of every
 * segment passes through the ring in order:
 *   full[stage]   the fetching warp arrives once and the copies bring their bytes
 *   empty[stage]  the processing warps and the storing thread arrive, `processors` + 1 in all
 * Plain copies between congruent addresses are stored from the stage that they were loaded into; the
 * processing warps only let them pass. Everything else is read by the processing warps, and the first
 * of them arrives for the storing thread too. The storing thread marks segments as the processing warps
 * do: once its own stores are complete. All warps thus keep within one round of the ring, which is
 * what parities can tell apart.
 */
#ifndef PURLIN_KIT_BULK_RING_DEVICE_CUH
#define PURLIN_KIT_BULK_RING_DEVICE_CUH

#include "purlin/kit/bulk_device.cuh"
#include "purlin/kit/consume_device.cuh"
#include "purlin/kit/ring_place.h"
#include "purlin/kit/staged_device.cuh"

namespace purlin::kit {

inline constexpr uint32_t kMostBulkStages = 16;
inline constexpr uint32_t kBulkGranule = 128;
inline constexpr uint32_t kBulkHelpers = 4;  // warps that do not process

/* The group's shared memory and the constants of the ring. */
struct BulkRing {
  Sides& sides;
  void* snac;
  uint32_t base;  // shared address of the ring
  uint32_t lane;
  uint32_t stages = static_cast<uint32_t>(purlin_constant_stages_d2());
  uint32_t stage_bytes = static_cast<uint32_t>(purlin_constant_stage_bytes_d2());
  uint32_t processors = constant_warps() - kBulkHelpers;

  __device__ __forceinline__ uint32_t full(uint32_t stage) const {
    return base - 2 * kMostBulkStages * 8 + stage * 8;
  }
  __device__ __forceinline__ uint32_t empty(uint32_t stage) const {
    return base - kMostBulkStages * 8 + stage * 8;
  }
  __device__ __forceinline__ uint32_t stage_at(uint32_t stage) const {
    return base + stage * stage_bytes;
  }
  /* By one thread. False: stopped. */
  __device__ __forceinline__ bool await(uint32_t barrier, uint32_t parity) const {
    while (!try_mbarrier(barrier, parity))
      if (is_stopped(sides)) return false;
    return true;
  }
  /* By a whole warp, all of whose lanes return the same. */
  __device__ __forceinline__ bool warp_awaits(uint32_t barrier, uint32_t parity) const {
    while (__all_sync(0xffffffffu, try_mbarrier(barrier, parity)) == 0)
      if (__any_sync(0xffffffffu, is_stopped(sides)) != 0) return false;
    return true;
  }
};

/* Whether a segment is stored in bulk as it was loaded. */
static __device__ __forceinline__ bool passes(const GrantedSegment& s) {
  return s.congruent != 0 && s.consume == PURLIN_CONSUME_COPY;
}

/* One piece after the other of a segment, with what does not change kept in registers: the few
 * instructions between two bulk copies decide how many CTAs a link needs. */
struct PieceWalk {
  Range range;  // of the present piece
  const uint64_t span;
  const uint32_t step;
  uint64_t base = 0;

  __device__ __forceinline__ explicit PieceWalk(const GrantedSegment& s)
      : range(piece_range(0, s.lead, s.span, s.step)), span(s.span), step(s.step) {}
  __device__ __forceinline__ void next() {
    base += step;
    range = {base, base + step < span ? base + step : span};
  }
  /* Piece p, from the first one. */
  __device__ __forceinline__ void to(uint32_t p) {
    if (p == 0) return;
    base = uint64_t{p - 1} * step;
    next();
  }
  __device__ __forceinline__ bool empty() const { return range.begin >= range.end; }
};

/* A warp loads all pieces of all segments: lane r those of source r. */
static __device__ __forceinline__ void run_bulk_fetch(const BulkRing& ring) {
  RingPlace place;
  uint64_t issued = 0;
  bool going = true;
  for (uint64_t i = 0; going && warp_awaits_grant(ring.sides, i) == Grant::kGo; ++i) {
    const GrantedSegment& s = segment_at(ring.sides, i);
    const uint32_t pieces = s.pieces, sources = s.sources;
    const bool mine = ring.lane < sources, congruent = s.congruent != 0;
    const uint64_t source = mine ? s.source[ring.lane] : 0;
    const uint32_t slot = ring.lane * s.slot;
    PieceWalk walk(s);
    if (mine) fence_before_bulk_global();
#pragma unroll 1
    for (uint32_t p = 0; p < pieces; ++p, walk.next()) {
      // In the first round the parity is that of the phase before the first: complete.
      going = ring.warp_awaits(ring.empty(place.stage), place.parity ^ 1);
      if (!going) break;
      const Range words = enclosing_words(source, walk.range);
      const uint32_t bytes = walk.empty() ? 0 : static_cast<uint32_t>(words.end - words.begin);
      if (ring.lane == 0) {
        uint32_t all = bytes * sources;
        if (!congruent && bytes != 0) {
          all = 0;
#pragma unroll 1
          for (uint32_t r = 0; r < sources; ++r) {
            const Range its = enclosing_words(s.source[r], walk.range);
            all += static_cast<uint32_t>(its.end - its.begin);
          }
        }
        arrive_expecting(ring.full(place.stage), all);
      }
      // A copy may be done before its bytes are announced: the phase also wants lane 0's arrival.
      if (mine && bytes != 0)
        bulk_load(ring.stage_at(place.stage) + slot, words.begin, bytes, ring.full(place.stage));
      place.next(ring.stages);
      ++issued;
    }
  }
  if (!is_stopped(ring.sides)) return;
  // The copies still under way must land before their memory is somebody else's.
#pragma unroll 1
  for (uint32_t stage = 0; stage < ring.stages && stage < issued; ++stage) {
    const uint32_t parity = stage < place.stage ? place.parity : place.parity ^ 1;
    while (!try_mbarrier(ring.full(stage), parity)) {}
  }
}

/* A processing warp, `mover` of all. */
template <uint32_t kAdjacent>
static __device__ __forceinline__ void run_bulk_process(const BulkRing& ring, uint32_t mover) {
  RingPlace place;
  uint32_t turn = mover;  // rotates, so that short pieces do not always meet the same warps
  for (uint64_t i = 0; warp_awaits_grant(ring.sides, i) == Grant::kGo; ++i) {
    const GrantedSegment& s = segment_at(ring.sides, i);
    const bool pass = passes(s);
#pragma unroll 1
    for (uint32_t p = 0; p < s.pieces; ++p) {
      if (!ring.warp_awaits(ring.full(place.stage), place.parity)) return;
      if (!pass) {
        const Range range = piece_range(p, s.lead, s.span, s.step);
        const FromStage from{s, ring.stage_at(place.stage), range.begin};
        consume_range<0, kAdjacent>(s, from, range, turn * 32 + ring.lane, ring.processors * 32, ring.snac);
        turn = turn == 0 ? ring.processors - 1 : turn - 1;
      }
      __syncwarp();
      if (ring.lane == 0)
        arrive_mbarrier(ring.empty(place.stage), mover == 0 && !pass ? 2 : 1);
      place.next(ring.stages);
    }
    mark_stored(ring.sides, mover, ring.lane, i + 1);
  }
}

/* The storing thread: stores plain copies, and marks every segment, in order, after its stores. */
class BulkStore {
 public:
  __device__ __forceinline__ explicit BulkStore(const BulkRing& ring) : ring_(ring) {}

  __device__ __forceinline__ void run() {
    for (;;) {
      const Grant grant = go_on();
      if (grant == Grant::kStopped) break;
      // About to wait: free every stage, and leave nothing stored unmarked.
      if (grant != Grant::kGo) free_stages();
      if (next_ != segment_ && (grant != Grant::kGo || oldest_lags())) {
        if (oldest_lags()) await_lagging_writes();
        else await_bulk_writes<0>();
        release_shared(&ring_.sides.stored[ring_.processors], ++next_);
      } else if (grant == Grant::kEnded) {
        break;
      }
    }
    await_bulk_writes<0>();
  }

 private:
  /* Groups that may be unread, and incomplete, while the next ones are committed: at most half of the
   * ring, so that loads have the other half. */
  __device__ __forceinline__ uint32_t lag() const {
    return ring_.stages >= 8 ? 4 : ring_.stages >= 4 ? 2 : 1;
  }
  __device__ __forceinline__ void await_lagging_reads() const {
    if (lag() == 4) await_bulk_reads<4>();
    else if (lag() == 2) await_bulk_reads<2>();
    else await_bulk_reads<1>();
  }
  __device__ __forceinline__ void await_lagging_writes() const {
    if (lag() == 4) await_bulk_writes<4>();
    else if (lag() == 2) await_bulk_writes<2>();
    else await_bulk_writes<1>();
  }
  /* Whether the oldest unmarked segment is complete once all but lag() groups are. */
  __device__ __forceinline__ bool oldest_lags() const {
    return committed_ - segment_at(ring_.sides, next_).mark >= lag();
  }
  /* Whether all processing warps are past the segments before the present one. */
  __device__ __forceinline__ bool processed() const {
    for (uint32_t mover = 0; mover < ring_.processors; ++mover)
      if (acquire_shared(&ring_.sides.stored[mover]) < segment_) return false;
    return true;
  }

  /* A segment, as far as its pieces have arrived. kNotYet: nothing can be done before something
   * arrives. */
  __device__ __forceinline__ Grant go_on() {
    // The processing warps are awaited before the ring goes on: see the note on parities.
    if (left_ && !processed())
      return is_stopped(ring_.sides) ? Grant::kStopped : Grant::kNotYet;
    left_ = false;
    const Grant grant = look_at_grant(ring_.sides, segment_);
    if (grant != Grant::kGo) return grant;
    const GrantedSegment& s = segment_at(ring_.sides, segment_);
    if (passes(s)) return store_pieces(s);
    free_stages();
    place_.skip(s.pieces, ring_.stages);
    left_ = true;
    end_segment();
    return Grant::kGo;
  }

  /* Leaves early, to be called again, when the oldest segment can be marked. */
  __device__ __forceinline__ Grant store_pieces(const GrantedSegment& s) {
    const uint32_t pieces = s.pieces, destinations = s.destinations;
    const uint64_t first = s.destination[0];
    PieceWalk walk(s);
    walk.to(piece_);
    if (piece_ == 0) fence_before_bulk_global();
    const bool waits = next_ != segment_;  // a segment, to be marked
    const uint32_t mark = waits ? segment_at(ring_.sides, next_).mark : 0;
#pragma unroll 1
    do {
      if (!test_mbarrier(ring_.full(place_.stage), place_.parity))
        return is_stopped(ring_.sides) ? Grant::kStopped : Grant::kNotYet;
      const uint32_t stage = ring_.stage_at(place_.stage);
      store_piece(first, stage, walk.range);
#pragma unroll 1
      for (uint32_t d = 1; d < destinations; ++d) store_piece(s.destination[d], stage, walk.range);
      commit_bulk();
      ++committed_;
      place_.next(ring_.stages);
      if (unfreed_ == lag()) {
        await_lagging_reads();
        arrive_mbarrier(ring_.empty(place_.behind(lag() + 1, ring_.stages)), 1);
      } else {
        ++unfreed_;
      }
      if (++piece_ == pieces) {
        end_segment();
        return Grant::kGo;
      }
      walk.next();
    } while (!waits || committed_ - mark < lag());
    return Grant::kGo;
  }

  __device__ __forceinline__ void end_segment() {
    ring_.sides.segments[segment_ % kSegmentsAhead].mark = committed_;
    ++segment_;
    piece_ = 0;
  }

  /* Whole words in bulk, the bytes around them one by one. */
  __device__ __forceinline__ void store_piece(uint64_t to, uint32_t stage, const Range& range) const {
    const uint64_t origin = word_floor(range.begin);
    const uint64_t first = word_ceiling(range.begin);
    const uint64_t last = word_floor(range.end);
    if (first < last)
      bulk_store(to + first, stage + static_cast<uint32_t>(first - origin),
                 static_cast<uint32_t>(last - first));
    store_bytes(to, stage, origin, {range.begin, first < range.end ? first : range.end});
    if (last >= first) store_bytes(to, stage, origin, {last, range.end});
  }
  static __device__ __forceinline__ void store_bytes(uint64_t to, uint32_t stage, uint64_t origin,
                                                     const Range& range) {
#pragma unroll 1
    for (uint64_t byte = range.begin; byte < range.end; ++byte)
      *reinterpret_cast<uint8_t*>(to + byte) =
          static_cast<uint8_t>(load_shared_byte(stage + static_cast<uint32_t>(byte - origin)));
  }

  /* Frees all stages, which lie right behind the place, once their groups have read them. */
  __device__ __forceinline__ void free_stages() {
    if (unfreed_ == 0) return;
    await_bulk_reads<0>();
#pragma unroll 1
    for (; unfreed_ != 0; --unfreed_)
      arrive_mbarrier(ring_.empty(place_.behind(unfreed_, ring_.stages)), 1);
  }

  const BulkRing& ring_;
  RingPlace place_;
  uint64_t segment_ = 0;    // being stored
  uint64_t next_ = 0;       // to be marked
  uint32_t piece_ = 0;      // of segment_
  uint32_t committed_ = 0;  // groups, one a piece; wraps
  uint32_t unfreed_ = 0;    // of the last groups, those whose stages are not free again; at most lag()
  bool left_ = false;       // the last segment was left to the processing warps
};

/* All threads of the group. kAdjacent: words that a thread stores at once, 1 or 2 (sm_100). */
template <uint32_t kAdjacent>
static __device__ __forceinline__ void run_bulk_ring(const purlin_group& group, void* snac) {
  static_assert(kBeforeRing >= kSidesBytes + 2 * kMostBulkStages * 8);
  const uint32_t warp = group.thread / 32;
  BulkRing ring{*static_cast<Sides*>(group.shared), snac,
                shared_address(group.shared) + kBeforeRing, group.thread % 32};
  begin_sides(ring.sides, group);
  if (group.thread == 0) {
    for (uint32_t stage = 0; stage < ring.stages; ++stage) {
      init_mbarrier(ring.full(stage), 1);
      init_mbarrier(ring.empty(stage), ring.processors + 1);
    }
    fence_mbarrier_init();
  }
  group_barrier(group, 0);
  if (warp == 0) {
    run_gate(ring.sides, ring.lane, snac, Cutting{ring.stage_bytes, kBulkGranule});
  } else if (warp == 1) {
    run_announcer(ring.sides, ring.processors + 1, ring.lane, snac);
  } else if (warp == 2) {
    run_bulk_fetch(ring);
  } else if (warp == 3) {
    if (ring.lane == 0) BulkStore(ring).run();
  } else {
    run_bulk_process<kAdjacent>(ring, warp - kBulkHelpers);
  }
  __syncwarp();
  group_barrier(group, 0);
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_BULK_RING_DEVICE_CUH
