// The Ampere Atom: asynchronous 16-byte copies into a ring of stages for each warp.
#include "purlin/atom.cuh"
#include "purlin/kit/symbols_device.cuh"

extern "C" __device__ void purlin_atom_run_d2(const purlin_group* group, void* snac) {
  purlin::kit::run_warp_rings<4>(*group, snac);
}
