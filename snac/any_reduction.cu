// The reduction of universal programs, which serve every dtype and operation: both are arguments of the
// launch and chosen between for each piece. In the place of an Atom's reduction fragment; the bits are the
// same. Compiled once for each base whose conversions differ.
#include "purlin/device_abi.cuh"
#include "purlin/kit/any_words.h"

using namespace purlin;

namespace {

// dtype | op << 8 of the running call. Volatile, or the compiler would make a loop of its own for each
// of them wherever a reduction stands.
__shared__ volatile unsigned chosen;

constexpr unsigned kMost = PURLIN_DEVICE_MAX_RANKS;

__device__ __forceinline__ kit::Words8 half_of(const kit::Words16& words, unsigned half) {
  return half == 0 ? kit::Words8{words.word[0], words.word[1]}
                   : kit::Words8{words.word[2], words.word[3]};
}

// A call, unlike everything else: it stands where loops over ranks unroll, and few programs ever make it.
__device__ __noinline__ unsigned long long scaled(unsigned long long scalar, unsigned long long words) {
  const kit::Words8 in = {static_cast<uint32_t>(words), static_cast<uint32_t>(words >> 32)};
  const kit::Words8 out = kit::scale_any_words(chosen & 0xffu, in, scalar);
  return out.word[0] | static_cast<unsigned long long>(out.word[1]) << 32;
}

}  // namespace

extern "C" __device__ const unsigned purlin_device_abi_reduction = PURLIN_ATOM_DEVICE_ABI;

extern "C" __device__ void purlin_choose_reduction_d2(unsigned dtype, unsigned op) {
  if (threadIdx.x == 0) chosen = dtype | op << 8;
  __syncthreads();
}
extern "C" __device__ unsigned long long purlin_constant_dtype_d2() { return chosen & 0xffu; }
extern "C" __device__ unsigned long long purlin_constant_op_d2() { return chosen >> 8; }

extern "C" __device__ void purlin_reduce8_d2(const kit::Words8* in, unsigned n, kit::Words8* out) {
  kit::Words8 sources[kMost];
  PURLIN_KIT_UNROLL
  for (unsigned r = 0; r < kMost; ++r)
    if (r < n) sources[r] = in[r];
  const unsigned now = chosen;
  *out = kit::reduce_any_words(now & 0xffu, now >> 8, sources, n,
                               static_cast<unsigned>(purlin_constant_nranks_d2()));
}

// One half after the other, by the same code.
extern "C" __device__ void purlin_reduce16_d2(const kit::Words16* in, unsigned n, kit::Words16* out) {
  kit::Words8 result[2] = {};
  PURLIN_KIT_NO_UNROLL
  for (unsigned half = 0; half < 2; ++half) {
    kit::Words8 sources[kMost];
    PURLIN_KIT_UNROLL
    for (unsigned r = 0; r < kMost; ++r)
      if (r < n) sources[r] = half_of(in[r], half);
    result[0] = result[1];
    purlin_reduce8_d2(sources, n, &result[1]);
  }
  *out = {result[0].word[0], result[0].word[1], result[1].word[0], result[1].word[1]};
}

extern "C" __device__ void purlin_scale8_d2(unsigned long long scalar, kit::Words8* words) {
  const unsigned long long out =
      scaled(scalar, words->word[0] | static_cast<unsigned long long>(words->word[1]) << 32);
  *words = {static_cast<uint32_t>(out), static_cast<uint32_t>(out >> 32)};
}
extern "C" __device__ void purlin_scale16_d2(unsigned long long scalar, kit::Words16* words) {
  kit::Words8 low = half_of(*words, 0), high = half_of(*words, 1);
  purlin_scale8_d2(scalar, &low);
  purlin_scale8_d2(scalar, &high);
  *words = {low.word[0], low.word[1], high.word[0], high.word[1]};
}
