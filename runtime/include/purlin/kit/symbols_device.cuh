/* purlin/kit/symbols_device.cuh: the part of an Atom's link-time symbols that is the same on all
 * hardware of today: packets, flags, the version. Included by exactly one file of an Atom.
 */
#ifndef PURLIN_KIT_SYMBOLS_DEVICE_CUH
#define PURLIN_KIT_SYMBOLS_DEVICE_CUH

#include "purlin/device_abi.cuh"
#include "purlin/kit/memory_device.cuh"

/* Not inside the braces below, where a constant would be of this file alone. */
extern "C" __device__ const unsigned purlin_device_abi_atom = PURLIN_ATOM_DEVICE_ABI;

extern "C" {

__device__ void purlin_atom_send_packet_d2(purlin_packet* slot, unsigned long long payload,
                                           unsigned long long tag) {
  purlin::kit::store_packet(slot, payload, tag);
}
__device__ unsigned long long purlin_atom_read_packet_d2(const purlin_packet* slot,
                                                         unsigned long long* payload) {
  return purlin::kit::load_packet(slot, payload);
}
__device__ void purlin_atom_signal_d2(unsigned long long* flag, unsigned long long value) {
  purlin::kit::store_release(flag, value);
}
__device__ unsigned long long purlin_atom_observe_d2(const unsigned long long* flag) {
  return purlin::kit::load_acquire(flag);
}
}

#endif  // PURLIN_KIT_SYMBOLS_DEVICE_CUH
