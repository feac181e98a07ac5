// The Hopper Atom: bulk copies into one ring of stages, and straight out of it where nothing changes.
#include "purlin/atom.cuh"
#include "purlin/kit/symbols_device.cuh"

extern "C" __device__ void purlin_atom_run_d2(const purlin_group* group, void* snac) {
  purlin::kit::run_bulk_ring<1>(*group, snac);
}
