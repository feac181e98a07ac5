// Stands for an Atom: walks the elements and calls back for the arithmetic.
#include "toy.cuh"

extern "C" __device__ const unsigned purlin_device_abi_atom = TOY_DEVICE_ABI;

extern "C" __device__ void TOY_NAME(toy_move)(float* destination, const float* const* sources,
                                              u64 count) {
  const u64 ranks = TOY_NAME(purlin_constant_nranks)();
  const float scale = static_cast<float>(TOY_NAME(purlin_constant_stages)());
  for (u64 i = threadIdx.x; i < count; i += blockDim.x) {
    float sum = sources[0][i];
#pragma unroll
    for (u64 r = 1; r < 8; ++r)
      if (r < ranks) sum = TOY_NAME(toy_combine)(sum, sources[r][i], scale);
    destination[i] = sum;
  }
}
