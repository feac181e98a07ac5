// Packets and flags of an Atom between two CTAs.
#include "purlin/device.cuh"
#include "tools/check/gpu/format.h"
#include "tools/check/gpu/wait_device.cuh"

namespace purlin::tools::check {

static __device__ __forceinline__ unsigned hashed(unsigned a, unsigned b) {
  unsigned x = a * 0x9E3779B1u ^ b * 0x85EBCA77u;
  x = (x ^ x >> 15) * 0x2C1B3C6Du;
  return x ^ x >> 13;
}

static __device__ void note_wrong(MessageReport& report, u64 round, u64 slot, u64 tag,
                                  u64 payload) {
  if (atomicAdd(reinterpret_cast<u64*>(&report.wrong), u64{1}) != 0) return;
  report.round = round;
  report.slot = slot;
  report.tag = tag;
  report.payload = payload;
}

static __device__ void note_missing(MessageReport& report, u64 round, u64 slot) {
  if (atomicExch(reinterpret_cast<u64*>(&report.timed_out), u64{1}) != 0) return;
  report.round = round;
  report.slot = slot;
}

// By all threads of the sending CTA: the receiver has taken all rounds up to `round`. False: time
// is over.
static __device__ bool all_taken(const MessageParameters& p, u64 round, u64 deadline) {
  int late = 0;
  if (threadIdx.x == 0)
    late = await_word(reinterpret_cast<void*>(p.taken), round, deadline) ? 0 : 1;
  return __syncthreads_or(late) == 0;
}

}  // namespace purlin::tools::check

// Packets in any order, each overwritten in every round while the receiver looks: a packet is the
// old one or the new one, whole.
extern "C" __global__ void purlin_check_packets(
    const __grid_constant__ purlin::tools::check::MessageParameters p) {
  using namespace purlin::tools::check;
  auto* slots = reinterpret_cast<purlin_packet*>(p.slots);
  auto& report = *reinterpret_cast<MessageReport*>(p.report);
  const u64 deadline = now_ns() + p.limit_ns;
  for (unsigned round = 1; round <= p.rounds; ++round) {
    if (blockIdx.x == 0) {
      const unsigned first = hashed(p.seed, round) % p.count;
      for (unsigned i = threadIdx.x; i < p.count; i += blockDim.x) {
        const unsigned slot =
            round % 2 != 0 ? (first + i) % p.count : p.count - 1 - (first + i) % p.count;
        if (p.delay_ns != 0) pass_ns(hashed(p.seed + slot, round) % p.delay_ns);
        purlin_atom_send_packet_d2(&slots[slot], message_payload(round, slot), message_tag(round));
      }
      if (!all_taken(p, round, deadline)) return;
      continue;
    }
    int late = 0;
    for (unsigned slot = threadIdx.x; slot < p.count && late == 0; slot += blockDim.x) {
      for (;;) {
        u64 payload = 0;
        const u64 tag = purlin_atom_read_packet_d2(&slots[slot], &payload);
        const bool fresh = tag == message_tag(round);
        if ((!fresh && tag != message_tag(round - 1)) ||
            payload != message_payload(fresh ? round : round - 1, slot))
          note_wrong(report, round, slot, tag, payload);
        if (fresh) break;
        if (now_ns() < deadline) continue;
        note_missing(report, round, slot);
        late = 1;
        break;
      }
    }
    if (__syncthreads_or(late) != 0) return;
    if (threadIdx.x == 0) release_word(reinterpret_cast<void*>(p.taken), round);
  }
}

// Words stored by all threads, then a signal by one: whoever observes it reads the words.
extern "C" __global__ void purlin_check_signals(
    const __grid_constant__ purlin::tools::check::MessageParameters p) {
  using namespace purlin::tools::check;
  auto* words = reinterpret_cast<u64*>(p.slots);
  auto* flag = reinterpret_cast<u64*>(p.flag);
  auto& report = *reinterpret_cast<MessageReport*>(p.report);
  const u64 deadline = now_ns() + p.limit_ns;
  for (u64 round = 1; round <= p.rounds; ++round) {
    if (blockIdx.x == 0) {
      for (unsigned i = threadIdx.x; i < p.count; i += blockDim.x)
        words[i] = message_payload(round, i);
      __syncthreads();
      if (threadIdx.x == 0) purlin_atom_signal_d2(flag, round);
      if (!all_taken(p, round, deadline)) return;
      continue;
    }
    int late = 0;
    if (threadIdx.x == 0) {
      while (late == 0 && purlin_atom_observe_d2(flag) != round) late = now_ns() > deadline ? 1 : 0;
      if (late != 0) note_missing(report, round, 0);
    }
    if (__syncthreads_or(late) != 0) return;
    for (unsigned i = threadIdx.x; i < p.count; i += blockDim.x)
      if (words[i] != message_payload(round, i)) note_wrong(report, round, i, round, words[i]);
    __syncthreads();
    if (threadIdx.x == 0) release_word(reinterpret_cast<void*>(p.taken), round);
  }
}
