// What Purlin sees of this plugin.
#include "packets.h"
#include "purlin/atom_abi.h"
#include "reduction.h"
#include "run.h"

namespace purlin::atom_host {
namespace {

constexpr uint32_t kEveryOp = (1u << PURLIN_OP_COUNT) - 1;

// A rank's thread moves one piece at a time: there is no pipeline to have stages, and the group is
// one thread. A stage bounds the pieces of segments with several destinations; the default fits
// every second-level cache that a server has had for ten years.
constexpr purlin_atom_limits make_limits() {
  purlin_atom_limits limits{};
  limits.struct_size = sizeof limits;
  limits.max_sources = PURLIN_MAX_RANKS;
  limits.max_destinations = PURLIN_MAX_RANKS;
  limits.min_stages = limits.max_stages = limits.default_stages = 1;
  limits.min_stage_bytes = 4u << 10;
  limits.max_stage_bytes = 64u << 20;
  limits.default_stage_bytes = 128u << 10;
  limits.min_threads = limits.max_threads = limits.default_threads = 1;
  limits.shared_bytes_fixed = 0;
  for (int d = 0; d < PURLIN_DTYPE_COUNT; ++d) limits.op_mask[d] = kEveryOp;
  return limits;
}

constinit const purlin_atom_limits kLimits = make_limits();

constinit const purlin_host_atom kHostAtom = {
    .struct_size = sizeof(purlin_host_atom),
    .reserved = 0,
    .run = run,
    .send_packets = send_packets,
    .receive_packets = receive_packets,
    .signal = signal,
    .observe = observe,
    .reduce = reduce,
    .scale = scale,
};

constinit const purlin_atom_descriptor kDescriptor = {
    .struct_size = sizeof(purlin_atom_descriptor),
    .abi_major = PURLIN_ATOM_ABI_MAJOR,
    .abi_minor = PURLIN_ATOM_ABI_MINOR,
    .device_abi = PURLIN_ATOM_DEVICE_ABI,
    .kind = PURLIN_ATOM_HOST,
    .name = "host",
    .version = "0.9.0",
    .vendor = "Purlin",
    .description = "CPU ranks: plain memory, vectors of the CPU, any dtype and operation",
    .priority = 0,
    .architecture = 0,
    .capabilities = PURLIN_CAP_COPY | PURLIN_CAP_REDUCE | PURLIN_CAP_PACKETS | PURLIN_CAP_SIGNALS |
                    PURLIN_CAP_REMOTE_STORE,
    .limits = &kLimits,
    .host = &kHostAtom,
    .images = nullptr,
    .image_count = 0,
    .probe = nullptr,
};

}  // namespace
}  // namespace purlin::atom_host

extern "C" PURLIN_ATOM_EXPORT const purlin_atom_descriptor* PURLIN_ATOM_ENTRY(void) {
  return &purlin::atom_host::kDescriptor;
}
