// The environment in which SNAC runs on a GPU: a rank is a grid, packets and flags are the Atom's,
// a wait polls and, now and then, looks at the stop word and at the clock.
#pragma once

#include "purlin/device_abi.cuh"
#include "snac/constants.h"
#include "snac/device_waiter.cuh"
#include "snac/listed.h"

extern "C" {
__device__ unsigned long long purlin_constant_dependent_launch_d2();  // sm_90 and newer
__device__ unsigned long long purlin_constant_form_steps_d2();
__device__ unsigned long long purlin_constant_form_flags_d2();
__device__ unsigned long long purlin_constant_form_sources_d2();
__device__ unsigned long long purlin_constant_universal_d2();
// Given by any_reduction.cu alone, to universal programs. All threads of a CTA.
__device__ void purlin_choose_reduction_d2(unsigned dtype, unsigned op);
}

namespace purlin::snac {

using DeviceParams = CallParamsOf<PURLIN_DEVICE_MAX_RANKS>;

class DeviceEnv : public DeviceWaiter<DeviceParams> {
 public:
  using Params = DeviceParams;
  static constexpr u32 kMaxSources = PURLIN_DEVICE_MAX_RANKS;
  static constexpr bool kTakesOwnWhileStaging = false;  // a CTA with two destinations is slower

  __device__ explicit DeviceEnv(const Params& params) : DeviceWaiter(params) {}

  __device__ Form form() const {
    return decode_form(purlin_constant_form_steps_d2(), purlin_constant_form_flags_d2(),
                       purlin_constant_form_sources_d2());
  }
  // Flows: of the call's argument or, where the kernel reads counts, of shared memory.
  __device__ const Extent& own() const { return listed() ? counted(p_.rank).send : p_.own; }
  __device__ const Extent& send(u32 step, u32 peer) const {
    return listed() ? counted(peer).send : p_.send[step][peer];
  }
  __device__ const Extent& receive(u32 step, u32 peer) const {
    return listed() ? counted(peer).receive : p_.receive[step][peer];
  }
  __device__ u32 send_signature(u32 peer) const {
    return listed() ? counted(peer).send_signature : p_.send_signature[peer];
  }
  __device__ u32 receive_signature(u32 peer) const {
    return listed() ? counted(peer).receive_signature : p_.receive_signature[peer];
  }
  // Of the call's argument; where the kernel reads counts, what `find` finds.
  template <class Find>
  __device__ u32 longest_sent(u32 step, Find find) const {
    return listed() ? find() : p_.longest_sent[step];
  }
  template <class Find>
  __device__ u32 longest_received(u32 step, Find find) const {
    return listed() ? find() : p_.longest_received[step];
  }

  // Before anything else, by all threads of the CTA: reads the counts of a V form that leaves that to the
  // kernel. False: one is above its bound, all ranks are stopped, and the epoch is taken. Every CTA
  // finds the same.
  __device__ bool read_counts() {
    if (!listed()) return true;
    if (threadIdx.x < nranks())
      counted(threadIdx.x) = listed_flow(p_.listed, nranks(), p_.rank, threadIdx.x);
    __syncthreads();
    const CountExcess excess = listed_excess(p_.listed, nranks());
    if (excess.found == 0) return true;
    take_epoch();
    epoch_is_read();
    if (threadIdx.x == 0) {
      StopRecord record = record_at(StopKind::kCountBound, Site{p_.rank, 0, 0});
      record.expected_bytes = excess.bound;
      record.found_bytes = excess.found;
      stop(record);
    }
    return false;
  }

  // Where `peer` offers its bytes of a step; null: in slots. Each CTA hears for itself.
  __device__ const u8* place(u32 step, u32 peer) const { return places()[step][peer]; }
  __device__ void set_place(u32 step, u32 peer, const u8* address) { places()[step][peer] = address; }

  // Switch staging: one address stands for all replicas.
  __device__ u8* replica(u64 offset) const { return p_.replica + offset; }
  __device__ void load_from_view(u64 offset, purlin_segment* out) const {
    out->kind |= PURLIN_SEGMENT_SWITCH_LOAD;
    out->src[0] = p_.view + offset;
  }
  __device__ void store_to_view(u64 offset, purlin_segment* out) const {
    out->kind |= PURLIN_SEGMENT_SWITCH_STORE;
    out->dst[0] = p_.view + offset;
  }

  // Has the values worked out here, and not where they are used first: what is done before a load is waited
  // for takes no time.
  template <class... Values>
  __device__ static void settle(Values&... values) {
    (settle_one(values), ...);
  }
  // Reads the epoch of this call, in every thread; between the two there may be other work.
  __device__ void fetch_epoch() {
    epoch_ = load_relaxed(*epoch_word(p_, blockIdx.x));
    __syncwarp();  // so that the load is issued before the work
  }
  __device__ u64 fetched_epoch() { return ++epoch_; }
  __device__ u64 take_epoch() {
    fetch_epoch();
    return fetched_epoch();
  }
  // By all threads of the CTA, once they have taken it: the word may be written from now on.
  __device__ static void epoch_is_read() { __syncthreads(); }
  // A thread's last act: the new epoch in every word that it stands for, so that a later grid of
  // another size reads it too. The next grid reads it once this one has ended.
  __device__ void leave_epoch() const {
    const u32 step = gridDim.x * blockDim.x;
    for (u32 word = blockIdx.x + threadIdx.x * gridDim.x; word < p_.epoch_words; word += step)
      *epoch_word(p_, word) = epoch_;
  }

  // Lanes of the warp that the Atom calls ready and done with.
  __device__ static u32 peer_lane() { return threadIdx.x % 32; }
  __device__ static u32 peer_lanes() { return 32; }
  // A vote orders no memory; what each lane acquired is the whole warp's only behind the barrier.
  __device__ static bool all_lanes(bool mine) {
    const bool all = __all_sync(0xffffffffu, mine) != 0;
    __syncwarp();
    return all;
  }
  // A look costs the gate half a microsecond.
  __device__ static bool looks_up(u64 index) { return index % 8 == 7; }

  // Lanes that serve the headers of peers: the last CTA's threads, from the last one on, which have no
  // packets in short calls.
  __device__ u32 lane() const {
    return blockIdx.x == gridDim.x - 1 ? blockDim.x - 1 - threadIdx.x : kMaxRanks;
  }
  __device__ u32 lanes() const { return blockDim.x; }
  __device__ u32 first_block() const { return blockIdx.x * blockDim.x + threadIdx.x; }
  __device__ u32 block_stride() const { return gridDim.x * blockDim.x; }

  // Guarded by a constant: programs that never scale need no arithmetic.
  __device__ void scale(Block& block, u64) {
    if (purlin_constant_op_d2() == PURLIN_PREMUL_SUM) purlin_scale8_d2(p_.scalar, &block);
  }
  __device__ void reduce(Block* blocks, u32 sources, u64) {
    Block result;
    purlin_reduce8_d2(blocks, sources, &result);
    blocks[0] = result;
  }
  // All packets of a block are polled together, so that their flights overlap. Where each lies is
  // worked out anew, not kept: registers are dearer.
  template <class From>
  __device__ bool receive_all(u64 wanted, From expected, Block* blocks, u32 count) {
    u32 missing = 0;
    return wait(
        [&] {
          bool all = true;
          PURLIN_UNROLL
          for (u32 i = 0; i < kMaxSources; ++i) {
            if (i >= count) break;
            if ((static_cast<u32>(wanted) >> i & 1) == 0) continue;
            const Expected one = expected(i);
            u64 payload = 0;
            const bool here = read_packet(one.slots, &payload) == one.tag;
            set(blocks[i], payload);
            if (!here) missing = i;
            all = all && here;
          }
          return all;
        },
        [&] { return expected(missing).site; });
  }

  template <class Poll>
  __device__ bool wait(Poll poll, Site site) {
    return wait(poll, [&] { return site; });
  }

 private:
  // A constant, like all of the form.
  __device__ static bool listed() { return (purlin_constant_form_flags_d2() >> 7 & 1) != 0; }
  __device__ static ListedFlow& counted(u32 peer) {
    __shared__ ListedFlow flows[PURLIN_DEVICE_MAX_RANKS];
    return flows[peer];
  }

  using Places = const u8* [PURLIN_DEVICE_MAX_RANKS];
  __device__ static Places* places() {
    __shared__ Places heard[2];
    return heard;
  }

  template <class Poll, class WhereNow>
  __device__ bool wait(Poll poll, WhereNow where) {
    return wait_until(poll, [&](u64 begin) { return go_on(where(), begin); });
  }

  // One place leaves the record, whatever the reason: a record is much code.
  __device__ bool go_on(Site site, u64 begin) {
    StopRecord record = record_at(StopKind::kTold, site);
    if (!stopped()) {
      const Arrival header = site.peer == p_.rank
                                 ? Arrival::kAgrees
                                 : header_from(*this, p_, epoch_, site.peer, &record);
      if (header != Arrival::kDiffers) {
        const u64 waited = now() - begin;
        const bool in_vain =
            header == Arrival::kNotYet && waited > kRefusalGraceNs && refused(site.peer);
        if (!in_vain && waited < p_.timeout_ns) return true;
        record.kind = in_vain ? StopKind::kRefused : StopKind::kTimeout;
        if (!in_vain) record.peer = absent_instead_of(*this, p_, epoch_, record.peer);
      }
    }
    stop(record);
    return false;
  }

  __device__ StopRecord record_at(StopKind kind, Site site) const {
    StopRecord record;
    record.kind = kind;
    record.rank = p_.rank;
    record.peer = site.peer;
    record.step = site.step;
    record.epoch = epoch_;
    record.chunk = site.chunk;
    record.expected_call = p_.descriptor;
    return record;
  }

  template <class T>
  __device__ static void settle_one(T*& value) {
    asm volatile("" : "+l"(value));
  }
  __device__ static void settle_one(u32& value) { asm volatile("" : "+r"(value)); }

  u64 epoch_ = 0;
};

// For launches that may begin early: the last warp of a CTA reads a word of each line of the argument that
// the call will use. A launch is the first to read its argument, and misses of the constant cache, taken
// where a value is needed, come one after another; here they overlap with the kernel before. (An H200, 2
// ranks, back to back: 0.15 to 0.2 us; behind an ordinary kernel it costs 0.06.)
__device__ __forceinline__ void touch(const DeviceParams& p) {
  if (threadIdx.x + 32 < blockDim.x) return;
  constexpr u32 kLine = 64;
  u32 words_read = 0;
  const auto hold = [&words_read](u32 word) { words_read ^= word; };
  const auto hold_each = [&hold](const auto* items, u32 count) {
    constexpr u32 kInLine = kLine / sizeof *items;
    PURLIN_UNROLL
    for (u32 i = 0; i < PURLIN_DEVICE_MAX_RANKS; i += kInLine)
      if (i < count) hold(*reinterpret_cast<const u32*>(items + i));
  };
  const u32 n = static_cast<u32>(purlin_constant_nranks_d2());
  const u32* const words = reinterpret_cast<const u32*>(&p);
  PURLIN_UNROLL
  for (u32 at = 0; at < offsetof(DeviceParams, peers); at += kLine) hold(words[at / sizeof(u32)]);
  hold_each(p.peers, n);
  PURLIN_UNROLL
  for (u32 step = 0; step < 2; ++step) {
    if (step >= purlin_constant_form_steps_d2()) break;
    hold_each(p.send[step], n);
    hold_each(p.receive[step], n);
  }
  hold_each(p.send_signature, n);
  hold_each(p.receive_signature, n);
  // A use that nobody may take away.
  asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x5eed; @p nanosleep.u32 0; }" ::"r"(words_read));
}

// First thing in a kernel that reduces what its call says, and not what it was linked for.
__device__ __forceinline__ void choose_reduction(const DeviceParams& p) {
  if (purlin_constant_universal_d2() != 0) purlin_choose_reduction_d2(p.dtype, p.op);
}

}  // namespace purlin::snac
