// The switch protocol as one universal kernel, compiled once to LTO-IR, for an Atom that loads and
// stores multicast addresses.
#include "snac/device_env.cuh"
#include "snac/switch_path.h"

using namespace purlin::snac;

extern "C" __device__ const unsigned purlin_device_abi_snac = PURLIN_ATOM_DEVICE_ABI;
using DeviceSwitchPath = SwitchPath<DeviceEnv>;

extern "C" __device__ bool purlin_snac_segment_d2(void* snac, unsigned long long index,
                                                  purlin_segment* out) {
  return static_cast<DeviceSwitchPath*>(snac)->segment(index, out);
}
extern "C" __device__ bool purlin_snac_ready_d2(void* snac, unsigned long long index) {
  return static_cast<DeviceSwitchPath*>(snac)->ready(index);
}
extern "C" __device__ void purlin_snac_done_d2(void* snac, unsigned long long index) {
  static_cast<DeviceSwitchPath*>(snac)->done(index);
}
extern "C" __device__ unsigned long long purlin_snac_scalar_d2(void* snac) {
  return static_cast<DeviceSwitchPath*>(snac)->params().scalar;
}
// One multicast address stands for all of them.
extern "C" __device__ unsigned purlin_snac_sources_d2(void* snac) {
  return static_cast<DeviceSwitchPath*>(snac)->form().reduces ? 1 : 0;
}

extern "C" __global__ void purlin_switch_d2(const __grid_constant__ DeviceParams params) {
  extern __shared__ __align__(128) unsigned char shared[];
  DeviceEnv env(params);
  const u64 epoch = env.take_epoch();
  env.epoch_is_read();
  send_headers(env, params, epoch);
  u32 cta = blockIdx.x;
  u32 role = 0;
  while (role < 2 && cta >= params.ctas[role]) cta -= params.ctas[role++];
  DeviceSwitchPath work(env, params, epoch, static_cast<Role>(role), cta, 0, kMaxRounds);
  const purlin_group group = {sizeof(purlin_group), threadIdx.x, blockDim.x, 1, shared, 0};
  purlin_atom_run_d2(&group, &work);
  wait_headers(env, params, epoch, [](u32) { return true; });
  env.leave_epoch();
}
