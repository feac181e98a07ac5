// Send and receive as one universal kernel, compiled once to LTO-IR. The grid holds params.ctas CTAs for
// each stream; all of them are resident, so no stream waits for another.
#include "snac/device_pair_env.cuh"

using namespace purlin::snac;

extern "C" __device__ const unsigned purlin_device_abi_snac = PURLIN_ATOM_DEVICE_ABI;
using DevicePairs = PairStream<DevicePairEnv>;

// A stream has one peer: the first lane of a warp waits for it, and tells it.
static __device__ u32 lane() { return threadIdx.x % 32; }

extern "C" __device__ bool purlin_snac_segment_d2(void* snac, unsigned long long index,
                                                  purlin_segment* out) {
  return static_cast<DevicePairs*>(snac)->segment(index, out);
}
extern "C" __device__ bool purlin_snac_ready_d2(void* snac, unsigned long long index) {
  return __all_sync(0xffffffffu, lane() != 0 || static_cast<DevicePairs*>(snac)->ready(index)) != 0;
}
extern "C" __device__ void purlin_snac_done_d2(void* snac, unsigned long long index) {
  if (lane() == 0) static_cast<DevicePairs*>(snac)->done(index);
}
extern "C" __device__ unsigned long long purlin_snac_scalar_d2(void*) { return 0; }
extern "C" __device__ unsigned purlin_snac_sources_d2(void*) { return 0; }

// The stream of this CTA: own copies first, then by distance, receives before sends.
static __device__ bool find_stream(const DevicePairParams& p, u32 index, PairSide* side, u32* peer) {
  *side = PairSide::kSelf;
  *peer = p.rank;
  if (p.sends[p.rank].count != 0 && index-- == 0) return true;
  for (u32 d = 1; d < p.nranks; ++d) {
    *side = PairSide::kReceive;
    *peer = (p.rank + p.nranks - d) % p.nranks;
    if (p.receives[*peer].count != 0 && index-- == 0) return true;
    *side = PairSide::kSend;
    *peer = (p.rank + d) % p.nranks;
    if (p.sends[*peer].count != 0 && index-- == 0) return true;
  }
  return false;
}

extern "C" __global__ void purlin_pairs_d2(const __grid_constant__ DevicePairParams params) {
  extern __shared__ __align__(128) unsigned char shared[];
  PairSide side;
  u32 peer;
  if (!find_stream(params, blockIdx.x / params.ctas, &side, &peer)) return;
  DevicePairEnv env(params);
  DevicePairs stream(env, params, side, peer, blockIdx.x % params.ctas);
  const purlin_group group = {sizeof(purlin_group), threadIdx.x, blockDim.x, 1, shared, 0};
  // All threads agree on each turn: what they look at is theirs alone to change.
  while (!stream.finished()) {
    u64 done = 1;
    if (stream.by_packets()) {
      stream.open(1);
      if (!stream.transfer_packets()) return;
    } else {
      stream.open(~u64{0});
      done = stream.opened();
      purlin_atom_run_d2(&group, &stream);
      if (env.stopped()) return;
    }
    stream.advance(done);
    __syncthreads();
  }
  stream.leave();
}
