// The Blackwell Atom: the Hopper schedule with a deeper ring and stores of 256 bits.
#include "purlin/atom.cuh"
#include "purlin/kit/symbols_device.cuh"

extern "C" __device__ void purlin_atom_run_d2(const purlin_group* group, void* snac) {
  purlin::kit::run_bulk_ring<2>(*group, snac);
}
