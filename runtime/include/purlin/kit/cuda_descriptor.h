/* purlin/kit/cuda_descriptor.h: what the descriptor of a CUDA Atom says when it is built on this kit.
 */
#ifndef PURLIN_KIT_CUDA_DESCRIPTOR_H
#define PURLIN_KIT_CUDA_DESCRIPTOR_H

#include <cstdio>
#include <initializer_list>

#include "purlin/atom_abi.h"
#include "purlin/kit/shared_span.h"

namespace purlin::kit {

/* As in device_abi.cuh, which the host compiler cannot read. */
inline constexpr uint32_t kDeviceMaxRanks = 16;

struct LimitRange {
  uint32_t least, most, usual;
};

/* Every dtype and operation; as many sources and destinations as device code has room for. */
constexpr purlin_atom_limits cuda_limits(LimitRange stages, LimitRange stage_bytes, LimitRange threads,
                                         uint32_t shared_bytes_fixed) {
  purlin_atom_limits limits{};
  limits.struct_size = sizeof limits;
  limits.max_sources = limits.max_destinations = kDeviceMaxRanks;
  limits.min_stages = stages.least;
  limits.max_stages = stages.most;
  limits.default_stages = stages.usual;
  limits.min_stage_bytes = stage_bytes.least;
  limits.max_stage_bytes = stage_bytes.most;
  limits.default_stage_bytes = stage_bytes.usual;
  limits.min_threads = threads.least;
  limits.max_threads = threads.most;
  limits.default_threads = threads.usual;
  limits.shared_bytes_fixed = shared_bytes_fixed;
  for (int d = 0; d < PURLIN_DTYPE_COUNT; ++d) limits.op_mask[d] = (1u << PURLIN_OP_COUNT) - 1;
  return limits;
}

/* The rest; the caller fills in name, texts, architecture, limits and images. */
constexpr purlin_atom_descriptor cuda_descriptor() {
  purlin_atom_descriptor descriptor{};
  descriptor.struct_size = sizeof descriptor;
  descriptor.abi_major = PURLIN_ATOM_ABI_MAJOR;
  descriptor.abi_minor = PURLIN_ATOM_ABI_MINOR;
  descriptor.device_abi = PURLIN_ATOM_DEVICE_ABI;
  descriptor.kind = PURLIN_ATOM_CUDA;
  descriptor.capabilities = PURLIN_CAP_COPY | PURLIN_CAP_REDUCE | PURLIN_CAP_PACKETS |
                            PURLIN_CAP_SIGNALS | PURLIN_CAP_REMOTE_STORE;
  return descriptor;
}

/* Of an Atom of kit/switch_device.cuh. Words go through registers: there are no stages to choose. Two
 * warps of a group move no bytes. What multicast loads reduce (kit/multimem_device.cuh) depends on the
 * device: the family of sm_100 has 8-bit floats. */
constexpr purlin_atom_limits cuda_switch_limits(bool family_of_100) {
  constexpr uint32_t kSum = 1u << PURLIN_SUM;
  constexpr uint32_t kExtremes = 1u << PURLIN_MIN | 1u << PURLIN_MAX;
  purlin_atom_limits limits = cuda_limits({1, 1, 1}, {16, 16, 16}, {96, 1024, 512}, kSidesBytes);
  for (uint32_t& mask : limits.op_mask) mask = 0;
  for (purlin_dtype dtype :
       {PURLIN_I32, PURLIN_U32, PURLIN_I64, PURLIN_U64, PURLIN_F16, PURLIN_BF16})
    limits.op_mask[dtype] = kSum | kExtremes;
  limits.op_mask[PURLIN_F32] = limits.op_mask[PURLIN_F64] = kSum;
  if (family_of_100)
    limits.op_mask[PURLIN_F8E4M3] = limits.op_mask[PURLIN_F8E5M2] = kSum | kExtremes;
  return limits;
}

inline uint32_t probe_multicast(const purlin_device_facts* facts, char* reason,
                                uint64_t reason_bytes) {
  if (facts->multicast != 0) return PURLIN_PROBE_FITS;
  std::snprintf(reason, reason_bytes, "the device has no multicast memory");
  return PURLIN_PROBE_LACKS_MULTICAST;
}

/* An Atom of kit/switch_device.cuh: nothing is reduced outside the switch, so it stands beside an Atom
 * that reduces, never in its place. */
constexpr purlin_atom_descriptor cuda_switch_descriptor() {
  purlin_atom_descriptor descriptor = cuda_descriptor();
  descriptor.capabilities = PURLIN_CAP_COPY | PURLIN_CAP_PACKETS | PURLIN_CAP_SIGNALS |
                            PURLIN_CAP_SWITCH_REDUCE | PURLIN_CAP_SWITCH_STORE;
  descriptor.priority = -100;
  descriptor.probe = probe_multicast;
  return descriptor;
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_CUDA_DESCRIPTOR_H
