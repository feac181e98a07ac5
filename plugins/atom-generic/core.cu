// The generic Atom: 16-byte loads and stores through registers, several in flight.
#include "purlin/atom.cuh"
#include "purlin/kit/symbols_device.cuh"

extern "C" __device__ void purlin_atom_run_d2(const purlin_group* group, void* snac) {
  purlin::kit::run_direct<8>(*group, snac);
}
