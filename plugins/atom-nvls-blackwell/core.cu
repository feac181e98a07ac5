// The switch's Atom for the family of sm_100: as for sm_90, and 8-bit floats.
#include "purlin/kit/switch_device.cuh"
#include "purlin/kit/symbols_device.cuh"

extern "C" __device__ void purlin_atom_run_d2(const purlin_group* group, void* snac) {
  purlin::kit::run_switched<8, true>(*group, snac);
}
