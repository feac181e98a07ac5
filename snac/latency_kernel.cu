// The latency protocol as one universal kernel, compiled once to LTO-IR.
#include "snac/device_env.cuh"
#include "snac/latency.h"

using namespace purlin::snac;

extern "C" __device__ const unsigned purlin_device_abi_snac = PURLIN_ATOM_DEVICE_ABI;

extern "C" __global__ void purlin_latency_d2(const __grid_constant__ DeviceParams params) {
  touch(params);
  // Everything below may depend on the kernel before: wait for it, and only then let the next start.
  if (purlin_constant_dependent_launch_d2() != 0) {
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  }
  choose_reduction(params);
  DeviceEnv env(params);
  if (env.read_counts()) Latency<DeviceEnv>(env, params).run();
  if (params.epoch_goes_on == 0) env.leave_epoch();
}
