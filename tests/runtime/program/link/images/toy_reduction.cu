// Stands for a reduction fragment. The product and the sum would contract to one FFMA if the link
// allowed it.
#include "toy.cuh"

extern "C" __device__ float TOY_NAME(toy_combine)(float accumulator, float next, float scale) {
  return accumulator + next * scale;
}
