// Stands for SNAC: the entry point, compiled for the oldest base.
#include "toy.cuh"

extern "C" __device__ const unsigned purlin_device_abi_snac = TOY_DEVICE_ABI;

struct ToyArguments {
  float* destination;
  const float* sources[8];
  u64 count;
};

extern "C" __global__ void toy_program(ToyArguments arguments) {
  TOY_NAME(toy_move)(arguments.destination, arguments.sources, arguments.count);
}
