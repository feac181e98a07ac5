// Walks of an Atom over segments that the host has made up, with every rule watched. Compiled
// twice: PURLIN_CHECK_REDUCES says whether the program reduces.
#include "purlin/device.cuh"
#include "tools/check/gpu/format.h"
#include "tools/check/gpu/wait_device.cuh"

using namespace purlin::tools::check;

namespace {

__device__ void note_fault(WalkReport& report, GpuFault fault, u64 index, u64 found) {
  if (atomicCAS(&report.fault, static_cast<unsigned>(kNoFault), static_cast<unsigned>(fault)) != 0)
    return;
  report.index = index;
  report.found = found;
}

__device__ u64 add(uint64_t* word, u64 value) {
  return atomicAdd(reinterpret_cast<u64*>(word), value);
}

__device__ const WalkSegment& segment_of(const WalkBoard& board, u64 index) {
  return reinterpret_cast<const WalkSegment*>(board.segments)[index];
}

// Whether all 32 lanes of the calling warp are in this call; if not, that is noted. Lanes come together,
// so nobody waits for long. `lanes` is the warp's word, which begin_call clears; all lanes get one answer.
__device__ bool whole_warp(WalkReport& report, uint32_t& lanes, GpuFault fault, u64 index) {
  constexpr u64 kTogetherNs = 100'000'000;
  constexpr uint32_t kWholeWarp = 0xffffffffu;
  const uint32_t own = 1u << threadIdx.x % 32;
  uint32_t found = atomicOr(&lanes, own) | own;
  // After any fault the walk only has to end.
  for (const u64 begin = now_ns(); found != kWholeWarp && now_ns() - begin < kTogetherNs &&
                                   *static_cast<volatile uint32_t*>(&report.fault) == kNoFault;)
    found = *static_cast<volatile uint32_t*>(&lanes);
  // A lane leaves only while the warp is not whole, or others would wait for it.
  while (found != kWholeWarp) {
    const uint32_t now = atomicCAS(&lanes, found, found & ~own);
    if (now == found) {
      note_fault(report, fault, index, found);
      return false;
    }
    found = now;
  }
  return true;
}

// By a whole warp that is in a call: true for the lane that answers.
__device__ bool begin_call(uint32_t& lanes) {
  __syncwarp();
  if (threadIdx.x % 32 != 0) return false;
  atomicExch(&lanes, 0u);
  return true;
}

// What stands in SNAC's place.
class Work {
 public:
  __device__ Work(WalkBoard* at, u64 until) : board_(at), deadline_(until) {}

  __device__ bool segment(u64 index, purlin_segment* out) const {
    if (index >= board_->count) return false;
    const WalkSegment& s = segment_of(*board_, index);
    out->bytes = s.bytes;
    out->nsrc = s.nsrc;
    out->ndst = s.ndst;
    out->consume = s.consume;
    out->kind = PURLIN_SEGMENT_UNICAST;
#pragma unroll
    for (unsigned r = 0; r < PURLIN_DEVICE_MAX_RANKS; ++r) {
      if (r < s.nsrc) out->src[r] = reinterpret_cast<const void*>(s.src[r]);
      if (r < s.ndst) out->dst[r] = reinterpret_cast<void*>(s.dst[r]);
    }
    return true;
  }

  // By each lane that the Atom calls with. One lane answers for all.
  __device__ bool ready(u64 index) {
    WalkReport& report = board_->report;
    uint32_t& lanes = report.ready_lanes[warp()];
    if (!whole_warp(report, lanes, kReadyLanes, index)) {
      release_word(&report.stopped, 1);
      return false;
    }
    const bool goes = begin_call(lanes) ? permit(index) : true;
    __syncwarp();
    return __all_sync(0xffffffffu, goes) != 0;
  }

  __device__ void done(u64 index) {
    WalkReport& report = board_->report;
    uint32_t& lanes = report.done_lanes[warp()];
    if (!whole_warp(report, lanes, kDoneLanes, index)) return;
    if (begin_call(lanes)) note_done(index);
    __syncwarp();
  }

  __device__ unsigned sources() const {
    return PURLIN_CHECK_REDUCES ? static_cast<unsigned>(purlin_constant_nranks_d2()) : 0;
  }
  __device__ u64 scalar() const { return board_->scalar; }

 private:
  __device__ static unsigned warp() {
    return threadIdx.x % static_cast<unsigned>(purlin_constant_threads_d2()) / 32;
  }

  __device__ bool permit(u64 index) {
    WalkReport& report = board_->report;
    const u64 due = add(&report.ready_calls, 1);
    if (acquire_word(&report.stopped) != 0) {
      note_fault(report, kReadyAfterStop, index, board_->stop_at);
      return false;
    }
    if (index != due || index >= board_->count) {
      note_fault(report, kReadyOrder, index, due);
      return false;
    }
    const bool stop = index == board_->stop_at;
    const bool there = await_word(&report.fed, index + 1, deadline_);
    if (!there) note_fault(report, kTimeOut, index, 0);
    if (stop || !there) {
      release_word(&report.stopped, 1);
      return false;
    }
    release_word(&report.granted, index + 1);
    return true;
  }

  __device__ void note_done(u64 index) {
    WalkReport& report = board_->report;
    const u64 due = add(&report.done_calls, 1);
    if (index >= board_->stop_at)
      note_fault(report, kDoneBeyondStop, index, board_->stop_at);
    else if (index != due || index >= board_->count)
      note_fault(report, kDoneOrder, index, due);
    else if (index >= acquire_word(&report.granted))
      note_fault(report, kDoneBeforeReady, index, 0);
    else
      release_word(&report.done, index + 1);
  }

  WalkBoard* board_;
  u64 deadline_;
};

// The companion of one board: a whole CTA.
class Companion {
 public:
  __device__ Companion(WalkBoard& board, u64 deadline)
      : board_(board), report_(board.report), deadline_(deadline) {}

  __device__ void run() {
    const u64 count = board_.stop_at < board_.count ? board_.stop_at + 1 : board_.count;
    for (u64 i = 0; i < count; ++i) {
      if (threadIdx.x == 0) {
        if (board_.lockstep != 0) await_done(i);
        pass_ns(segment_of(board_, i).delay_ns);
      }
      witness();
      feed(i);
      __syncthreads();
      if (threadIdx.x == 0) release_word(&report_.fed, i + 1);
    }
    // Until the Atom has come back, or never will.
    while (!witness()) {
    }
  }

 private:
  __device__ bool returned() const {
    return acquire_word(&report_.returned) >= purlin_constant_threads_d2();
  }

  __device__ void await_done(u64 count) {
    while (acquire_word(&report_.done) < count) {
      if (returned()) return;
      if (now_ns() > deadline_) return note_fault(report_, kDoneMissing, count - 1, 0);
    }
  }

  // Compares what has been announced since the last call; whether that was all.
  __device__ bool witness() {
    if (threadIdx.x == 0) {
      report_.over = returned() || now_ns() > deadline_;
      report_.seen = acquire_word(&report_.done);
    }
    __syncthreads();
    const u64 upto = report_.seen;
    const bool over = report_.over != 0;
    for (; compared_ < upto; ++compared_) compare(compared_);
    __syncthreads();
    return over;
  }

  __device__ void compare(u64 index) {
    const WalkSegment& s = segment_of(board_, index);
    const auto* wanted = reinterpret_cast<const unsigned char*>(s.expected);
    for (unsigned k = 0; k < s.ndst; ++k) {
      const auto* found = reinterpret_cast<const unsigned char*>(s.dst[k]);
      for (u64 at = threadIdx.x; at < s.bytes; at += blockDim.x)
        if (found[at] != wanted[at]) return note_fault(report_, kNotThere, index, at);
    }
  }

  __device__ void feed(u64 index) {
    const WalkSegment& s = segment_of(board_, index);
    for (unsigned k = 0; k < s.ndst; ++k) {
      const auto* target = reinterpret_cast<const unsigned char*>(s.dst[k]);
      for (u64 at = threadIdx.x; at < s.bytes; at += blockDim.x)
        if (target[at] != kUnwritten) note_fault(report_, kWrittenEarly, index, at);
    }
    __syncthreads();  // a source may be a destination
    for (unsigned r = 0; r < s.nsrc; ++r) {
      auto* to = reinterpret_cast<unsigned char*>(s.src[r]);
      const auto* from = reinterpret_cast<const unsigned char*>(s.original[r]);
      for (u64 at = threadIdx.x; at < s.bytes; at += blockDim.x) to[at] = from[at];
    }
  }

  WalkBoard& board_;
  WalkReport& report_;
  const u64 deadline_;
  u64 compared_ = 0;
};

}  // namespace

// Not PURLIN_DEVICE_WORK, which calls an application's work with one thread: who calls is watched here.
extern "C" __device__ const unsigned purlin_device_abi_snac = PURLIN_ATOM_DEVICE_ABI;
extern "C" {
__device__ bool purlin_snac_segment_d2(void* work, u64 index, purlin_segment* out) {
  return static_cast<const Work*>(work)->segment(index, out);
}
__device__ bool purlin_snac_ready_d2(void* work, u64 index) {
  return static_cast<Work*>(work)->ready(index);
}
__device__ void purlin_snac_done_d2(void* work, u64 index) {
  static_cast<Work*>(work)->done(index);
}
__device__ u64 purlin_snac_scalar_d2(void* work) { return static_cast<const Work*>(work)->scalar(); }
__device__ unsigned purlin_snac_sources_d2(void* work) {
  return static_cast<const Work*>(work)->sources();
}
}

extern "C" __global__ void purlin_check_walk(const __grid_constant__ WalkParameters p) {
  extern __shared__ __align__(128) unsigned char shared[];
  auto* boards = reinterpret_cast<WalkBoard*>(p.boards);
  const u64 deadline = now_ns() + p.limit_ns;
  const unsigned atoms = p.board_count / p.groups;
  if (blockIdx.x >= atoms) {
    Companion(boards[blockIdx.x - atoms], deadline).run();
    return;
  }
  const auto threads = static_cast<unsigned>(purlin_constant_threads_d2());
  const unsigned which = threadIdx.x / threads;
  WalkBoard& board = boards[blockIdx.x * p.groups + which];
  const purlin_group group = {sizeof(purlin_group), threadIdx.x % threads,          threads,
                              1 + which * 4,        shared + which * p.shared_span, p.shared_span};
  Work work(&board, deadline);
  purlin_atom_run_d2(&group, &work);
  __threadfence_system();
  add(&board.report.returned, 1);
}
