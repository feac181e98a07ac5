// The reduction fragment of one dtype, PURLIN_REDUCTION_DTYPE: built once for each dtype and base.
#include "purlin/atom.cuh"

using namespace purlin;

namespace {
constexpr auto kDtype = static_cast<purlin_dtype>(PURLIN_REDUCTION_DTYPE);
using Scalar = kit::Dtype<kDtype>::Accumulator;

template <class Words>
__device__ __forceinline__ void reduce(const Words* in, unsigned n, Words* out) {
  Words sources[PURLIN_DEVICE_MAX_RANKS];
  PURLIN_KIT_UNROLL
  for (unsigned r = 0; r < PURLIN_DEVICE_MAX_RANKS; ++r)
    if (r < n) sources[r] = in[r];
  *out = kit::reduce_words<kDtype>(static_cast<purlin_op>(purlin_constant_op_d2()), sources, n,
                                   static_cast<unsigned>(purlin_constant_nranks_d2()));
}

__device__ __forceinline__ Scalar scalar_of(unsigned long long bits) {
  if constexpr (sizeof(Scalar) == 8) return kit::bit_cast<Scalar>(static_cast<uint64_t>(bits));
  else if constexpr (sizeof(Scalar) == 4) return kit::bit_cast<Scalar>(static_cast<uint32_t>(bits));
  else return static_cast<Scalar>(bits);
}
}  // namespace

extern "C" __device__ const unsigned purlin_device_abi_reduction = PURLIN_ATOM_DEVICE_ABI;

extern "C" __device__ void purlin_reduce16_d2(const kit::Words16* sources, unsigned n,
                                              kit::Words16* out) {
  reduce(sources, n, out);
}
extern "C" __device__ void purlin_reduce8_d2(const kit::Words8* sources, unsigned n, kit::Words8* out) {
  reduce(sources, n, out);
}
extern "C" __device__ void purlin_scale16_d2(unsigned long long scalar, kit::Words16* words) {
  *words = kit::scale_words<kDtype>(*words, scalar_of(scalar));
}
extern "C" __device__ void purlin_scale8_d2(unsigned long long scalar, kit::Words8* words) {
  *words = kit::scale_words<kDtype>(*words, scalar_of(scalar));
}
