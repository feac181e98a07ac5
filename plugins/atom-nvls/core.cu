// The switch's Atom for sm_90 and newer: multicast loads that reduce, multicast stores.
#include "purlin/kit/switch_device.cuh"
#include "purlin/kit/symbols_device.cuh"

extern "C" __device__ void purlin_atom_run_d2(const purlin_group* group, void* snac) {
  purlin::kit::run_switched<8, false>(*group, snac);
}
