// The throughput protocol as one universal kernel, compiled once to LTO-IR. The Atom calls back into
// SNAC through the symbols of device_abi.cuh.
#include "snac/device_env.cuh"
#include "snac/throughput.h"

using namespace purlin::snac;

extern "C" __device__ const unsigned purlin_device_abi_snac = PURLIN_ATOM_DEVICE_ABI;
using DeviceThroughput = Throughput<DeviceEnv>;

extern "C" __device__ bool purlin_snac_segment_d2(void* snac, unsigned long long index,
                                                  purlin_segment* out) {
  return static_cast<DeviceThroughput*>(snac)->segment(index, out);
}
extern "C" __device__ bool purlin_snac_ready_d2(void* snac, unsigned long long index) {
  return static_cast<DeviceThroughput*>(snac)->ready(index);
}
extern "C" __device__ void purlin_snac_done_d2(void* snac, unsigned long long index) {
  static_cast<DeviceThroughput*>(snac)->done(index);
}
extern "C" __device__ unsigned long long purlin_snac_scalar_d2(void* snac) {
  return static_cast<DeviceThroughput*>(snac)->params().scalar;
}

extern "C" __device__ unsigned purlin_snac_sources_d2(void* snac) {
  const Form form = static_cast<DeviceThroughput*>(snac)->form();
  return form.reduces ? count_bits(form.sources & all_ranks(purlin_constant_nranks_d2())) : 0;
}

// Tells whose places this CTA has read. The first CTA then waits until nobody reads own ones any more.
__device__ __forceinline__ void leave_windows(DeviceEnv& env, const DeviceParams& params, u64 epoch,
                                              Role role, u32 cta) {
  __syncthreads();
  const Form form = env.form();
  for (u32 step = 0; step < form.steps; ++step) {
    const Role consumer = consumer_of(form, step);
    const u32 ctas = params.ctas[static_cast<u32>(consumer)];
    if (role == consumer) tell_exit(env, params, epoch, step, cta, ctas, threadIdx.x, blockDim.x);
    if (blockIdx.x == 0 && !await_exits(env, params, epoch, step, threadIdx.x, blockDim.x)) return;
  }
}

// The role is data: run has one call site, so the Atom's pipeline is compiled once.
__device__ __forceinline__ void carry_out(DeviceEnv& env, const DeviceParams& params,
                                          unsigned char* shared) {
  const Form form = env.form();
  const u64 epoch = env.take_epoch();
  env.epoch_is_read();
  send_headers(env, params, epoch);
  if (form.windows) send_entries(env, params, epoch);
  u32 cta = blockIdx.x;
  u32 role = 0;
  while (role < 2 && cta >= params.ctas[role]) cta -= params.ctas[role++];
  if (form.windows && !__syncthreads_and(role == 0 || hear_entries(env, params, epoch, threadIdx.x,
                                                                   blockDim.x)))
    return;
  DeviceThroughput work(env, params, epoch, static_cast<Role>(role), cta, 0, kMaxRounds);
  const purlin_group group = {sizeof(purlin_group), threadIdx.x, blockDim.x, 1, shared, 0};
  purlin_atom_run_d2(&group, &work);
  if (form.windows) leave_windows(env, params, epoch, static_cast<Role>(role), cta);
  wait_headers(env, params, epoch, [](u32) { return true; });
}

extern "C" __global__ void purlin_throughput_d2(const __grid_constant__ DeviceParams params) {
  extern __shared__ __align__(128) unsigned char shared[];
  choose_reduction(params);
  DeviceEnv env(params);
  if (env.read_counts()) carry_out(env, params, shared);
  env.leave_epoch();
}
