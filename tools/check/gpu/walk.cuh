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

// What stands in SNAC's place.
struct Work {
  WalkBoard* board;
  u64 deadline;

  __device__ bool segment(u64 index, purlin_segment* out) const {
    if (index >= board->count) return false;
    const WalkSegment& s = segment_of(*board, index);
    out->bytes = s.bytes;
    out->nsrc = s.nsrc;
    out->ndst = s.ndst;
    out->reduce = s.consume;
    out->kind = PURLIN_SEGMENT_UNICAST;
#pragma unroll
    for (unsigned r = 0; r < PURLIN_DEVICE_MAX_RANKS; ++r) {
      if (r < s.nsrc) out->src[r] = reinterpret_cast<const void*>(s.src[r]);
      if (r < s.ndst) out->dst[r] = reinterpret_cast<void*>(s.dst[r]);
    }
    return true;
  }

  __device__ bool ready(u64 index) {
    WalkReport& report = board->report;
    const u64 due = add(&report.ready_calls, 1);
    if (acquire_word(&report.stopped) != 0) {
      note_fault(report, kReadyAfterStop, index, board->stop_at);
      return false;
    }
    if (index != due || index >= board->count) {
      note_fault(report, kReadyOrder, index, due);
      return false;
    }
    const bool stop = index == board->stop_at;
    const bool there = await_word(&report.fed, index + 1, deadline);
    if (!there) note_fault(report, kTimeOut, index, 0);
    if (stop || !there) {
      release_word(&report.stopped, 1);
      return false;
    }
    release_word(&report.granted, index + 1);
    return true;
  }

  __device__ void done(u64 index) {
    WalkReport& report = board->report;
    const u64 due = add(&report.done_calls, 1);
    if (index >= board->stop_at)
      note_fault(report, kDoneBeyondStop, index, board->stop_at);
    else if (index != due || index >= board->count)
      note_fault(report, kDoneOrder, index, due);
    else if (index >= acquire_word(&report.granted))
      note_fault(report, kDoneBeforeReady, index, 0);
    else
      release_word(&report.done, index + 1);
  }

  __device__ unsigned sources() const {
    return PURLIN_CHECK_REDUCES ? static_cast<unsigned>(purlin_constant_nranks_d1()) : 0;
  }
  __device__ u64 scalar() const { return board->scalar; }
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
    return acquire_word(&report_.returned) >= purlin_constant_threads_d1();
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

PURLIN_DEVICE_WORK(Work)

extern "C" __global__ void purlin_check_walk(const __grid_constant__ WalkParameters p) {
  extern __shared__ __align__(128) unsigned char shared[];
  auto* boards = reinterpret_cast<WalkBoard*>(p.boards);
  const u64 deadline = now_ns() + p.limit_ns;
  const unsigned atoms = p.board_count / p.groups;
  if (blockIdx.x >= atoms) {
    Companion(boards[blockIdx.x - atoms], deadline).run();
    return;
  }
  const auto threads = static_cast<unsigned>(purlin_constant_threads_d1());
  const unsigned which = threadIdx.x / threads;
  WalkBoard& board = boards[blockIdx.x * p.groups + which];
  const purlin_group group = {sizeof(purlin_group), threadIdx.x % threads,          threads,
                              1 + which * 4,        shared + which * p.shared_span, p.shared_span};
  Work work{&board, deadline};
  purlin_atom_run_d1(&group, &work);
  __threadfence_system();
  add(&board.report.returned, 1);
}
