// The environment in which SNAC runs on a GPU: a rank is a grid, packets and flags are the Atom's,
// a wait polls and, now and then, looks at the stop word and at the clock.
#pragma once

#include "purlin/device_abi.cuh"
#include "snac/atomic.h"
#include "snac/constants.h"
#include "snac/header.h"

extern "C" {
__device__ unsigned long long purlin_constant_dependent_launch_d1();  // sm_90 and newer
__device__ unsigned long long purlin_constant_form_steps_d1();
__device__ unsigned long long purlin_constant_form_flags_d1();
__device__ unsigned long long purlin_constant_form_sources_d1();
}

namespace purlin::snac {

using DeviceParams = CallParamsOf<PURLIN_DEVICE_MAX_RANKS>;

class DeviceEnv {
 public:
  using Params = DeviceParams;
  static constexpr u64 kBlockBytes = 8;
  static constexpr u32 kMaxSources = PURLIN_DEVICE_MAX_RANKS;
  using Block = kit::Words8;

  __device__ DeviceEnv(const Params& params, u64 epoch) : p_(params), epoch_(epoch) {}

  __device__ Form form() const {
    return decode_form(purlin_constant_form_steps_d1(), purlin_constant_form_flags_d1(),
                       purlin_constant_form_sources_d1());
  }
  __device__ const Extent& send(u32 step, u32 peer) const { return p_.send[step][peer]; }
  __device__ const Extent& receive(u32 step, u32 peer) const { return p_.receive[step][peer]; }
  __device__ u32 send_signature(u32 peer) const { return p_.send_signature[peer]; }
  __device__ u32 receive_signature(u32 peer) const { return p_.receive_signature[peer]; }
  __device__ u32 nranks() const { return static_cast<u32>(purlin_constant_nranks_d1()); }
  // Lanes that serve peers: the first CTA's threads.
  __device__ u32 lane() const { return blockIdx.x == 0 ? threadIdx.x : kMaxRanks; }
  __device__ u32 lanes() const { return blockDim.x; }
  __device__ u64 first_block() const { return u64{blockIdx.x} * blockDim.x + threadIdx.x; }
  __device__ u64 block_stride() const { return u64{gridDim.x} * blockDim.x; }

  __device__ void signal(u64* word, u64 value) {
    purlin_atom_signal_d1(reinterpret_cast<unsigned long long*>(word), value);
  }
  __device__ u64 observe(const u64* word) {
    return purlin_atom_observe_d1(reinterpret_cast<const unsigned long long*>(word));
  }
  __device__ void send_word(purlin_packet* slot, u64 payload, u64 tag) {
    purlin_atom_send_packet_d1(slot, payload, tag);
  }
  __device__ u64 read_packet(const purlin_packet* slot, u64* payload) {
    unsigned long long value = 0;
    const u64 tag = purlin_atom_read_packet_d1(slot, &value);
    *payload = value;
    return tag;
  }

  // By aligned words, wherever the bytes begin: neighbours' bytes are shifted out, and no word
  // without a wanted byte is touched.
  __device__ void load(Block& block, const u8* from, u64 bytes) {
    const u64 address = reinterpret_cast<u64>(from);
    const u64* words = reinterpret_cast<const u64*>(address & ~u64{7});
    const u32 ahead = static_cast<u32>(address) & 7;
    u64 value = 0;
    if (bytes != 0) value = words[0] >> (8 * ahead);
    if (ahead + bytes > 8) value |= words[1] << (64 - 8 * ahead);
    set(block, value);
  }
  __device__ void store(u8* to, const Block& block, u64 bytes) {
    if (bytes == 8 && (reinterpret_cast<u64>(to) & 7) == 0) {
      *reinterpret_cast<uint2*>(to) = make_uint2(block.word[0], block.word[1]);
      return;
    }
    u64 value = get(block);
    PURLIN_NO_UNROLL
    for (u32 i = 0; i < bytes; ++i, value >>= 8) to[i] = static_cast<u8>(value);
  }
  __device__ void slice(Block& piece, const Block& whole, u64 offset, u64) {
    set(piece, get(whole) >> (8 * offset));
  }
  // Guarded by a constant: programs that never scale need no arithmetic.
  __device__ void scale(Block& block, u64) {
    if (purlin_constant_op_d1() == PURLIN_PREMUL_SUM) purlin_scale8_d1(p_.scalar, &block);
  }
  __device__ void reduce(Block* blocks, u32 sources, u64) {
    Block result;
    purlin_reduce8_d1(blocks, sources, &result);
    blocks[0] = result;
  }
  __device__ void send_block(purlin_packet* slot, const Block& block, u64 bytes, u64 tag) {
    // A tail's surplus bytes are whatever the register holds; the receiver drops them.
    (void)bytes;
    purlin_atom_send_packet_d1(slot, get(block), tag);
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
  __device__ void move(Block& to, const Block& from) { to = from; }

  __device__ bool stopped() const {
    return load_relaxed(device_control_of(p_, p_.rank)->stop) != 0;
  }
  template <class Poll>
  __device__ bool wait(Poll poll, Site site) {
    return wait(poll, [&] { return site; });
  }
  __device__ void ring(u32) {}  // nobody sleeps on a GPU

  // Leaves the record (the first reason wins), stops this rank and, unless it was told to, tells
  // all peers.
  __device__ void stop(const StopRecord& record) {
    leave_record(record);
    if (record.kind == StopKind::kTold) return;
    // Whoever else stops writes another reason: any of them will do.
    PURLIN_NO_UNROLL
    for (u32 r = 0; r < nranks(); ++r) {
      store_relaxed(device_control_of(p_, r)->stop, u64{p_.rank + 1});
      store_relaxed(control_of(p_, r)->stop, p_.rank + 1);
    }
  }

 private:
  __device__ static void set(Block& block, u64 value) {
    block.word[0] = static_cast<u32>(value);
    block.word[1] = static_cast<u32>(value >> 32);
  }
  __device__ static u64 get(const Block& block) {
    return block.word[0] | static_cast<u64>(block.word[1]) << 32;
  }
  __device__ static u64 now() {
    u64 time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
  }

  template <class Poll, class WhereNow>
  __device__ bool wait(Poll poll, WhereNow where) {
    u32 polls = 0;
    u64 begin = 0;
    while (!poll()) {
      if ((++polls & 0xfffu) != 0) continue;
      if (begin == 0) begin = now();
      if (!go_on(where(), begin)) return false;
    }
    return true;
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
        const bool refused =
            header == Arrival::kNotYet && waited > kRefusalGraceNs &&
            load_relaxed(control_of(p_, site.peer)->refused) != 0;
        if (!refused && waited < p_.timeout_ns) return true;
        record.kind = refused ? StopKind::kRefused : StopKind::kTimeout;
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
  __device__ void leave_record(const StopRecord& record) {
    if (!claim(device_control_of(p_, p_.rank)->claimed)) return;
    Control* own = control_of(p_, p_.rank);
    own->record = record;
    store_release(own->recorded, 1u);
  }

  const Params& p_;
  const u64 epoch_;
};

// The CTA's last act: the new epoch in every word that this CTA stands for, so that a later grid of
// another size reads it too.
__device__ __forceinline__ void leave_epoch(const DeviceParams& p, u64 epoch) {
  __syncthreads();
  const u32 step = gridDim.x * blockDim.x;
  for (u32 word = blockIdx.x + threadIdx.x * gridDim.x; word < p.epoch_words; word += step)
    *epoch_word(p, word) = epoch;
}

}  // namespace purlin::snac
