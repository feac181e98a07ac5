// An Atom that asks for a constant which programs do not have.
#include "toy.cuh"

extern "C" __device__ const unsigned purlin_device_abi_atom = TOY_DEVICE_ABI;
extern "C" __device__ u64 TOY_NAME(purlin_constant_colour)();

extern "C" __device__ void TOY_NAME(toy_move)(float* destination, const float* const*, u64 count) {
  for (u64 i = 0; i < count; ++i)
    destination[i] = static_cast<float>(TOY_NAME(purlin_constant_colour)());
}
