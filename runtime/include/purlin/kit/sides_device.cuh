/* purlin/kit/sides_device.cuh: the sides of a pipeline, each with warps of its own, and how they keep
 * step.
 *
 *   gate       one warp: asks SNAC for segments in order, waits for each (ready), and grants it.
 *              It runs up to kSegmentsAhead segments ahead, so a wait for a peer stalls nobody who
 *              still has granted work.
 *   movers     warps that move the bytes of granted segments. A mover marks a segment once it has
 *              stored all that it stores of it.
 *   announcer  one warp: calls done for each segment that all movers have marked, in order.
 *
 * Order: what ready acquired reaches a mover through the grant, and a mover's stores reach done through
 * its mark; both are release and acquire in the CTA and cumulative.
 *
 * Stop: the gate sets one bit that every wait of every side polls. After it nobody calls done; each
 * side first awaits the copies that it has issued, then leaves.
 */
#ifndef PURLIN_KIT_SIDES_DEVICE_CUH
#define PURLIN_KIT_SIDES_DEVICE_CUH

#include "purlin/device_abi.cuh"
#include "purlin/kit/cut.h"
#include "purlin/kit/shared_device.cuh"
#include "purlin/kit/shared_span.h"

namespace purlin::kit {

inline constexpr uint32_t kSegmentsAhead = 16;
inline constexpr uint32_t kMostMovers = 30;

/* A granted segment, as the gate leaves it in shared memory. Addresses are those of position 0. */
struct alignas(16) GrantedSegment {
  uint64_t span;          /* lead + bytes, see cut.h */
  uint32_t lead;
  uint32_t sources;
  uint32_t destinations;
  uint32_t consume;       /* PURLIN_CONSUME_* */
  uint32_t congruent;     /* every source and destination is aligned at position 0 */
  uint32_t slot;          /* bytes of a stage from one source's words to the next one's */
  uint32_t step;          /* bytes of a piece */
  uint32_t pieces;
  uint32_t mark;          /* a pipeline's own */
  uint32_t kind;          /* purlin_segment_kind */
  uint64_t source[PURLIN_DEVICE_MAX_RANKS];
  uint64_t destination[PURLIN_DEVICE_MAX_RANKS];
};

/* Lies at the start of the group's shared memory. */
struct alignas(128) Sides {
  uint64_t granted;    /* segments granted << 2 | ended << 1 | stopped */
  uint64_t announced;  /* segments whose done has been called */
  uint64_t stored[kMostMovers];
  GrantedSegment segments[kSegmentsAhead];
};
static_assert(sizeof(Sides) <= kSidesBytes);

enum class Grant { kNotYet, kGo, kEnded, kStopped };

static constexpr uint64_t kStoppedBit = 1;
static constexpr uint64_t kEndedBit = 2;

/* Whether segment `index` may be moved. Any thread. */
static __device__ __forceinline__ Grant look_at_grant(const Sides& sides, uint64_t index) {
  const uint64_t granted = acquire_shared(&sides.granted);
  if ((granted & kStoppedBit) != 0) return Grant::kStopped;
  if ((granted >> 2) > index) return Grant::kGo;
  return (granted & kEndedBit) != 0 ? Grant::kEnded : Grant::kNotYet;
}
/* The same for one thread, which waits for an answer. */
static __device__ __forceinline__ Grant await_grant(const Sides& sides, uint64_t index) {
  Grant grant;
  do grant = look_at_grant(sides, index);
  while (grant == Grant::kNotYet);
  return grant;
}
/* One answer for a whole warp, whose lanes may have looked at different times. */
static __device__ __forceinline__ Grant agree(Grant grant) {
  if (__all_sync(0xffffffffu, grant == Grant::kGo) != 0) return Grant::kGo;
  if (__any_sync(0xffffffffu, grant == Grant::kStopped) != 0) return Grant::kStopped;
  if (__all_sync(0xffffffffu, grant == Grant::kEnded) != 0) return Grant::kEnded;
  return Grant::kNotYet;
}
static __device__ __forceinline__ Grant warp_awaits_grant(const Sides& sides, uint64_t index) {
  Grant grant;
  do grant = agree(look_at_grant(sides, index));
  while (grant == Grant::kNotYet);
  return grant;
}
static __device__ __forceinline__ bool is_stopped(const Sides& sides) {
  return (acquire_shared(&sides.granted) & kStoppedBit) != 0;
}

static __device__ __forceinline__ const GrantedSegment& segment_at(const Sides& sides, uint64_t index) {
  return sides.segments[index % kSegmentsAhead];
}

/* Warps of the constant group. */
static __device__ __forceinline__ uint32_t constant_warps() {
  return static_cast<uint32_t>(purlin_constant_threads_d2()) / 32;
}

/* Bytes of the constant dtype's elements. */
static __device__ __forceinline__ uint32_t constant_element_bytes() {
  return element_bytes(static_cast<uint32_t>(purlin_constant_dtype_d2()));
}

/* Called by one warp; its lanes have stored what they store of all segments before `count`. */
static __device__ __forceinline__ void mark_stored(Sides& sides, uint32_t mover, uint32_t lane,
                                                   uint64_t count) {
  __syncwarp();
  if (lane == 0) release_shared(&sides.stored[mover], count);
}

/* By all threads of the group, before the sides part. */
static __device__ __forceinline__ void begin_sides(Sides& sides, const purlin_group& group) {
  if (group.thread < kMostMovers) sides.stored[group.thread] = 0;
  if (group.thread == 0) sides.granted = sides.announced = 0;
}

/* How a pipeline cuts segments: pieces of which one, of all sources, fits `stage_bytes`. See
 * slot_bytes and piece_bytes of cut.h. */
struct Cutting {
  uint32_t stage_bytes;
  uint32_t granule;
};

/* Writes what `s` says for the movers. */
static __device__ __forceinline__ void grant_segment(GrantedSegment& out, const purlin_segment& s,
                                                     const Cutting& cutting, uint32_t sources) {
  const uint32_t n = static_cast<uint32_t>(purlin_constant_nranks_d2());
  const uint32_t element = s.consume == PURLIN_CONSUME_COPY ? 1 : constant_element_bytes();
  // Words of a multicast source are aligned there, wherever they go.
  const uint32_t lead = (s.kind & PURLIN_SEGMENT_SWITCH_LOAD) != 0
                            ? 0
                            : lead_of(reinterpret_cast<uint64_t>(s.dst[0]), element);
  uint64_t odd = 0;
  PURLIN_KIT_UNROLL
  for (uint32_t r = 0; r < PURLIN_DEVICE_MAX_RANKS; ++r) {
    if (r >= n) break;
    if (r < s.nsrc) odd |= out.source[r] = reinterpret_cast<uint64_t>(s.src[r]) - lead;
    if (r < s.ndst) odd |= out.destination[r] = reinterpret_cast<uint64_t>(s.dst[r]) - lead;
  }
  out.span = lead + s.bytes;
  out.lead = lead;
  out.sources = s.nsrc;
  out.destinations = s.ndst;
  out.consume = s.consume;
  out.kind = s.kind;
  out.congruent = (odd & 15) == 0;
  out.slot = s.consume == PURLIN_CONSUME_REDUCE
                 ? slot_bytes(cutting.stage_bytes, sources, cutting.granule)
                 : slot_bytes(cutting.stage_bytes, 1, cutting.granule);
  out.step = piece_bytes(out.slot, (odd & 15) == 0, cutting.granule);
  out.pieces = piece_count(out.span, out.step);
}

/* The gate: one warp. */
static __device__ __forceinline__ void run_gate(Sides& sides, uint32_t lane, void* snac,
                                                const Cutting& cutting) {
  const uint32_t sources = purlin_snac_sources_d2(snac) == 0 ? 1 : purlin_snac_sources_d2(snac);
  purlin_segment s;
  for (uint64_t i = 0;; ++i) {
    while (i >= acquire_shared(&sides.announced) + kSegmentsAhead) {}
    __syncwarp();
    if (!purlin_snac_segment_d2(snac, i, &s)) {
      if (lane == 0) release_shared(&sides.granted, i << 2 | kEndedBit);
      return;
    }
    if (lane == 0) grant_segment(sides.segments[i % kSegmentsAhead], s, cutting, sources);
    __syncwarp();
    const bool goes = purlin_snac_ready_d2(snac, i);
    if (lane == 0) release_shared(&sides.granted, goes ? (i + 1) << 2 : i << 2 | kStoppedBit);
    if (!goes) return;
  }
}

/* Waits until all movers have marked segment `index`. By a whole warp, all of whose lanes return the
 * same. kGo: marked. */
static __device__ __forceinline__ Grant await_marks(const Sides& sides, uint32_t movers, uint32_t lane,
                                                    uint64_t index) {
  for (;;) {
    const bool marked = lane >= movers || acquire_shared(&sides.stored[lane]) > index;
    const Grant grant = look_at_grant(sides, index);
    const bool all = __all_sync(0xffffffffu, marked && grant != Grant::kStopped) != 0;
    if (all) return Grant::kGo;
    if (__any_sync(0xffffffffu, grant == Grant::kStopped) != 0) return Grant::kStopped;
    if (__any_sync(0xffffffffu, grant == Grant::kEnded) != 0) return Grant::kEnded;
  }
}

/* The announcer: one warp. */
static __device__ __forceinline__ void run_announcer(Sides& sides, uint32_t movers, uint32_t lane,
                                                     void* snac) {
  for (uint64_t i = 0; await_marks(sides, movers, lane, i) == Grant::kGo; ++i) {
    __syncwarp();
    purlin_snac_done_d2(snac, i);
    __syncwarp();
    if (lane == 0) release_shared(&sides.announced, i + 1);
  }
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_SIDES_DEVICE_CUH
