// How this hardware moves bytes. Everything else comes from the kit.
#include "purlin/atom.cuh"
#include "purlin/kit/symbols_device.cuh"

extern "C" __device__ void purlin_atom_run_d2(const purlin_group* group, void* snac) {
  purlin::kit::run_direct<4>(*group, snac);  // 4 words of 16 bytes a thread in flight
}
