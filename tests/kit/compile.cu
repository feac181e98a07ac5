// Compiled for the device, not run: every kernel function of the kit must be legal device code for
// every base. The accumulators of a piece must stay in registers, which the test reads from ptxas.
#include "purlin/kit/words.h"

namespace {

namespace kit = purlin::kit;

template <purlin_dtype D, int kBytes>
__device__ void reduce_piece(purlin_op op, const kit::Words<kBytes>* sources, uint32_t n,
                             kit::Words<kBytes>* out) {
  kit::Words<kBytes> held[8];
#pragma unroll
  for (uint32_t r = 0; r < 8; ++r) {
    if (r < n) held[r] = sources[r];
  }
  *out = kit::reduce_words<D>(op, held, n, n);
}

template <int kBytes>
__device__ void reduce_any(purlin_dtype dtype, purlin_op op, const kit::Words<kBytes>* sources,
                           uint32_t n, kit::Words<kBytes>* out) {
  switch (dtype) {
    case PURLIN_I8:
      return reduce_piece<PURLIN_I8>(op, sources, n, out);
    case PURLIN_U8:
      return reduce_piece<PURLIN_U8>(op, sources, n, out);
    case PURLIN_I32:
      return reduce_piece<PURLIN_I32>(op, sources, n, out);
    case PURLIN_U32:
      return reduce_piece<PURLIN_U32>(op, sources, n, out);
    case PURLIN_I64:
      return reduce_piece<PURLIN_I64>(op, sources, n, out);
    case PURLIN_U64:
      return reduce_piece<PURLIN_U64>(op, sources, n, out);
    case PURLIN_F16:
      return reduce_piece<PURLIN_F16>(op, sources, n, out);
    case PURLIN_F32:
      return reduce_piece<PURLIN_F32>(op, sources, n, out);
    case PURLIN_F64:
      return reduce_piece<PURLIN_F64>(op, sources, n, out);
    case PURLIN_BF16:
      return reduce_piece<PURLIN_BF16>(op, sources, n, out);
    case PURLIN_F8E4M3:
      return reduce_piece<PURLIN_F8E4M3>(op, sources, n, out);
    default:
      return reduce_piece<PURLIN_F8E5M2>(op, sources, n, out);
  }
}

}  // namespace

extern "C" __device__ void kit_reduce_16(int dtype, int op, const kit::Words16* sources, uint32_t n,
                                         kit::Words16* out) {
  reduce_any(static_cast<purlin_dtype>(dtype), static_cast<purlin_op>(op), sources, n, out);
}

extern "C" __device__ void kit_reduce_8(int dtype, int op, const kit::Words8* sources, uint32_t n,
                                        kit::Words8* out) {
  reduce_any(static_cast<purlin_dtype>(dtype), static_cast<purlin_op>(op), sources, n, out);
}

extern "C" __device__ void kit_scale_16(const kit::Words16* in, float scalar, kit::Words16* out) {
  *out = kit::scale_words<PURLIN_BF16>(*in, scalar);
}
