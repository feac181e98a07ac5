// The generic Atom: 16-byte vector loads and stores through registers, several in flight.
#include "purlin/device_abi.cuh"
#include "purlin/kit/memory_device.cuh"

using namespace purlin;
using kit::Words16;

extern "C" __device__ void purlin_atom_send_packet_d1(purlin_packet* slot, unsigned long long payload,
                                                      unsigned long long tag) {
  kit::store_packet(slot, payload, tag);
}
extern "C" __device__ unsigned long long purlin_atom_read_packet_d1(const purlin_packet* slot,
                                                                    unsigned long long* payload) {
  return kit::load_packet(slot, payload);
}
extern "C" __device__ void purlin_atom_signal_d1(unsigned long long* flag, unsigned long long value) {
  kit::store_release(flag, value);
}
extern "C" __device__ unsigned long long purlin_atom_observe_d1(const unsigned long long* flag) {
  return kit::load_acquire(flag);
}

namespace {

__device__ __forceinline__ void group_barrier(const purlin_group& group) {
  asm volatile("bar.sync %0, %1;" ::"r"(group.barrier_base), "r"(group.threads) : "memory");
}

template <bool kReduce, class Load, class Store>
__device__ __forceinline__ void move_piece(const purlin_segment& s, unsigned long long at, void* snac,
                                           Load load, Store store) {
  Words16 sources[PURLIN_DEVICE_MAX_RANKS];
  Words16 result;
  if (kReduce) {
    PURLIN_KIT_UNROLL
    for (unsigned r = 0; r < PURLIN_DEVICE_MAX_RANKS; ++r)
      if (r < s.nsrc) sources[r] = load(static_cast<const char*>(s.src[r]) + at);
    purlin_reduce16_d1(sources, s.nsrc, &result);
  } else {
    result = load(static_cast<const char*>(s.src[0]) + at);
    if (s.reduce == PURLIN_CONSUME_SCALE) purlin_scale16_d1(purlin_snac_scalar_d1(snac), &result);
  }
  PURLIN_KIT_UNROLL
  for (unsigned d = 0; d < PURLIN_DEVICE_MAX_RANKS; ++d)
    if (d < s.ndst) store(static_cast<char*>(s.dst[d]) + at, result);
}

template <bool kReduce>
__device__ __forceinline__ void move_segment(const purlin_segment& s, const purlin_group& group,
                                             void* snac) {
  const unsigned long long whole = s.bytes / 16;
  for (unsigned long long i = group.thread; i < whole; i += group.threads)
    move_piece<kReduce>(s, i * 16, snac, [](const void* p) { return kit::load16(p); },
                        [](void* p, const Words16& v) { kit::store16(p, v); });
  const unsigned tail = static_cast<unsigned>(s.bytes & 15);
  if (tail != 0 && group.thread == whole % group.threads)
    move_piece<kReduce>(s, whole * 16, snac, [tail](const void* p) { return kit::load_tail(p, tail); },
                        [tail](void* p, const Words16& v) { kit::store_tail(p, v, tail); });
}

}  // namespace

extern "C" __device__ void purlin_atom_run_d1(const purlin_group* group_in, void* snac) {
  const purlin_group group = *group_in;
  __shared__ bool go;
  purlin_segment s;
  for (unsigned long long i = 0; purlin_snac_segment_d1(snac, i, &s); ++i) {
    if (group.thread == 0) go = purlin_snac_ready_d1(snac, i);
    group_barrier(group);
    if (!go) return;
    if (s.reduce == PURLIN_CONSUME_REDUCE) move_segment<true>(s, group, snac);
    else move_segment<false>(s, group, snac);
    group_barrier(group);
    if (group.thread == 0) purlin_snac_done_d1(snac, i);
  }
}
