// What `purlin perf atom` runs: an Atom over plain memory, and by its side plain vector code and a
// chain of dependent loads.
#include "purlin/device.cuh"
#include "tools/atom_bench/parameters.h"

using purlin::tools::AtomBenchParameters;
using u64 = unsigned long long;

namespace {

// Segments of this CTA: every gridDim.x-th chunk. The number of sources is the linked constant
// nranks.
struct Work {
  const AtomBenchParameters* p;
  u64 first, limit;  // segments

  __device__ u64 chunk(u64 index) const { return (first + index) * gridDim.x + blockIdx.x; }

  __device__ bool segment(u64 index, purlin_segment* out) const {
    const u64 offset = chunk(index) * p->chunk_bytes;
    if (index >= limit || offset >= p->bytes) return false;
    const u64 left = p->bytes - offset;
    out->bytes = left < p->chunk_bytes ? left : p->chunk_bytes;
    const unsigned count = sources();
    out->consume = count != 0 ? PURLIN_CONSUME_REDUCE : PURLIN_CONSUME_COPY;
    out->kind = PURLIN_SEGMENT_UNICAST;
    out->nsrc = count != 0 ? count : 1;
    out->ndst = 1;
    const auto* in = reinterpret_cast<const unsigned char*>(p->in);
#pragma unroll
    for (unsigned s = 0; s < PURLIN_DEVICE_MAX_RANKS; ++s)
      if (s < out->nsrc) out->src[s] = in + s * p->source_stride + offset;
    out->dst[0] = reinterpret_cast<unsigned char*>(p->out) + offset;
    return true;
  }
  __device__ bool ready(u64) { return true; }
  __device__ void done(u64) {}
  __device__ unsigned sources() const {
    const auto count = static_cast<unsigned>(purlin_constant_nranks_d2());
    return count > 1 ? count : 0;
  }
};

}  // namespace

PURLIN_DEVICE_WORK(Work)

extern "C" __global__ void purlin_bench_atom(const __grid_constant__ AtomBenchParameters p) {
  extern __shared__ __align__(128) unsigned char shared[];
  // Draining: every segment is a run of its own, so that the pipeline empties between two.
  const u64 step = p.drain != 0 ? 1 : ~u64{0};
  u64 first = 0;
  do {
    Work work{&p, first, step};
    purlin::run_work(work, shared);
    first += step;
  } while (p.drain != 0 && (first * gridDim.x + blockIdx.x) * p.chunk_bytes < p.bytes);
}

// Grid-stride, 16 bytes a load, four independent ones; sums of f32 where there are several sources.
extern "C" __global__ void purlin_bench_plain(const __grid_constant__ AtomBenchParameters p) {
  constexpr unsigned kAhead = 4;
  const auto sources = static_cast<unsigned>(purlin_constant_nranks_d2());
  const u64 words = p.bytes / 16, stride = u64{gridDim.x} * blockDim.x;
  auto* out = reinterpret_cast<float4*>(p.out);
  for (u64 first = u64{blockIdx.x} * blockDim.x + threadIdx.x; first < words;
       first += kAhead * stride) {
    float4 sum[kAhead];
    for (unsigned s = 0; s < sources; ++s) {
      const auto* in = reinterpret_cast<const float4*>(p.in + s * p.source_stride);
#pragma unroll
      for (unsigned a = 0; a < kAhead; ++a) {
        const u64 word = first + a * stride;
        if (word >= words) continue;
        const float4 next = in[word];
        if (s == 0)
          sum[a] = next;
        else
          sum[a].x += next.x, sum[a].y += next.y, sum[a].z += next.z, sum[a].w += next.w;
      }
    }
#pragma unroll
    for (unsigned a = 0; a < kAhead; ++a)
      if (first + a * stride < words) out[first + a * stride] = sum[a];
  }
}

// One thread follows `steps` pointers, each an 8-byte offset from `in`, and leaves where it ended.
extern "C" __global__ void purlin_bench_chase(const __grid_constant__ AtomBenchParameters p) {
  const auto* in = reinterpret_cast<const volatile u64*>(p.in);
  u64 at = 0;
  for (u64 i = 0; i < p.steps; ++i) at = in[at / 8];
  *reinterpret_cast<u64*>(p.out) = at;
}
