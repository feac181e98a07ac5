/* What the kernels of `purlin check` are told and tell: plain structs, the same for both compilers.
 * Addresses are the device's. */
#ifndef PURLIN_TOOLS_CHECK_GPU_FORMAT_H
#define PURLIN_TOOLS_CHECK_GPU_FORMAT_H

#include <cstdint>

#ifdef __CUDACC__
#define PURLIN_CHECK_BOTH __host__ __device__
#else
#define PURLIN_CHECK_BOTH
#endif

namespace purlin::tools::check {

constexpr uint32_t kMostPointers = 16;      // PURLIN_DEVICE_MAX_RANKS
constexpr uint32_t kMostWarps = 32;         // of a group
constexpr unsigned char kUnwritten = 0xCD;  // of memory that nobody has written yet

/* A broken rule. `index` and `found` of a report say more. */
enum GpuFault : uint32_t {
  kNoFault,
  kReadyOrder,      /* ready(index) where ready(found) was due */
  kReadyAfterStop,  /* ready(index) after ready(found) had said stop */
  kDoneOrder,       /* done(index) where done(found) was due */
  kDoneBeforeReady, /* done(index) */
  kDoneBeyondStop,  /* done(index), ready(found) having said stop */
  kWrittenEarly,    /* byte `found` of a destination of segment `index`, before ready */
  kNotThere,        /* byte `found` of a destination of segment `index` was wrong after its done */
  kReadyLanes,      /* ready(index) was called by the lanes `found` of a warp alone */
  kDoneLanes,       /* done(index), the same */
  kDoneMissing,     /* done(index) did not come while ready of the next segment waited */
  kTimeOut          /* ready(index) waited for its sources beyond the limit: an inner error */
};

/* ---- Walks: kernel purlin_check_walk -------------------------------------------------------- */

struct WalkSegment {
  uint64_t bytes = 0;
  uint32_t nsrc = 0, ndst = 0;
  uint32_t consume = 0;  /* PURLIN_CONSUME_* */
  uint32_t delay_ns = 0; /* before the sources are filled */
  uint64_t src[kMostPointers] = {};
  uint64_t dst[kMostPointers] = {};
  uint64_t original[kMostPointers] =
      {};                /* what becomes of source r: copied there just before ready */
  uint64_t expected = 0; /* bytes of each destination after done */
};

struct WalkReport {
  uint64_t fed = 0;  /* segments whose sources are there; released */
  uint64_t done = 0; /* segments whose done has been called; released */
  uint64_t ready_calls = 0, done_calls = 0;
  uint64_t granted = 0;        /* segments that ready has permitted */
  uint64_t stopped = 0;        /* 1: ready has said stop */
  uint64_t returned = 0;       /* threads of the group that came back from run */
  uint64_t seen = 0, over = 0; /* the companion's own */
  uint32_t fault = kNoFault;
  uint32_t spare = 0;
  uint64_t index = 0, found = 0;
  /* Lanes of each warp of the group that are in a call of ready or of done. */
  uint32_t ready_lanes[kMostWarps] = {}, done_lanes[kMostWarps] = {};
};

struct WalkBoard {
  uint64_t segments = 0; /* of WalkSegment */
  uint64_t count = 0;
  uint64_t stop_at = ~uint64_t{0}; /* ready says stop at this segment */
  uint64_t lockstep = 0;           /* 1: segment i + 1 is permitted after done(i) alone */
  uint64_t scalar = 0;
  WalkReport report;
};

/* Each board has a group of threads that runs the Atom and a CTA, its companion, that stands for
 * its peers. CTAs: first those with `groups` boards each, then a companion for each board. */
struct WalkParameters {
  uint64_t boards = 0; /* of WalkBoard */
  uint32_t board_count = 0;
  uint32_t groups = 1;      /* of a CTA; divides board_count */
  uint32_t shared_span = 0; /* bytes of each group */
  uint32_t spare = 0;
  uint64_t limit_ns = 0; /* of any wait */
};

/* ---- Packets: kernel purlin_check_packets; and flags: kernel purlin_check_signals ------------ */

/* CTA 0 sends, CTA 1 receives. Round k = 1 … rounds sends one packet into each slot, in an order
 * that changes; packets: each after a delay of its own, if `delay_ns` is not 0. */
struct MessageReport {
  uint64_t wrong = 0; /* packets with another's payload; signals before what they announce */
  uint64_t round = 0, slot = 0, tag = 0, payload = 0; /* the first of them */
  uint64_t timed_out = 0; /* 1: something never arrived, round and slot say what */
};

struct MessageParameters {
  uint64_t slots = 0; /* of purlin_packet; for signals: of 64-bit words */
  uint64_t flag = 0;  /* a 64-bit word, 0 before */
  uint64_t taken = 0; /* a 64-bit word, 0 before */
  uint64_t report = 0;
  uint32_t count = 0; /* of slots */
  uint32_t rounds = 0;
  uint32_t delay_ns = 0;
  uint32_t seed = 0;
  uint64_t limit_ns = 0;
};

/* Tag and payload of a slot in a round; round 0 is what lies there before. */
PURLIN_CHECK_BOTH constexpr uint64_t message_tag(uint64_t round) {
  return 0x0123456789ABCD00 + round * 0x10001;
}
PURLIN_CHECK_BOTH constexpr uint64_t message_payload(uint64_t round, uint64_t slot) {
  return (round + 1) * 0x9E3779B97F4A7C15 ^ (slot + 1) * 0xC2B2AE3D27D4EB4F;
}

}  // namespace purlin::tools::check

#endif
