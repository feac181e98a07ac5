// An Atom whose names are current but whose global tells another device ABI: what the linker alone
// would let pass.
#include "toy.cuh"

extern "C" __device__ const unsigned purlin_device_abi_atom = TOY_DEVICE_ABI + 1;

extern "C" __device__ void TOY_NAME(toy_move)(float* destination, const float* const* sources,
                                              u64 count) {
  for (u64 i = 0; i < count; ++i) destination[i] = sources[0][i];
}
