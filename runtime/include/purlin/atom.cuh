/* purlin/atom.cuh: the kit for authors of CUDA Atoms.
 *
 * An Atom's device code defines the symbols that device_abi.cuh lists under "given by an Atom". Packets,
 * flags and the version come with kit/symbols_device.cuh; `run` is a pipeline of the kit or one of
 * the author's own, made of:
 *
 *   kit/sides_device.cuh    gate, movers and announcer: who calls SNAC, and how warps keep step
 *   kit/cut.h               a segment as words and pieces, any size and alignment
 *   kit/consume_device.cuh  copy, reduce or scale words and store them to every destination
 *   kit/window_device.cuh   16 bytes at any address
 *   kit/memory_device.cuh   packets, flags, 16-byte accesses
 *
 * Pipelines: kit/direct_device.cuh (registers), kit/warp_ring_device.cuh (a ring of stages for each
 * warp), kit/bulk_ring_device.cuh (bulk copies into a ring of the whole group). Apart from them
 * kit/switch_device.cuh (multicast addresses), for Atoms of the switch; sm_90 and newer.
 *
 * Rules. Everything is `static __device__`, so parts built for different architectures link. A group
 * is whole warps and need not be the whole CTA: no __syncthreads, no static shared memory; barriers
 * are the group's first one. __CUDA_ARCH__ is the base that the file is compiled for.
 *
 * Promise. device_abi.cuh is binary and versioned. The kit is source that is compiled into the plugin:
 * nothing of it is shared with Purlin at run time, so a built plugin never depends on the installed kit.
 * Within one major version of the ABI an author's source goes on compiling as far as it uses this
 * header's pipelines (run_direct, run_warp_ring, run_bulk_ring), kit/symbols_device.cuh,
 * kit/shared_span.h, cuda_limits and cuda_descriptor of kit/cuda_descriptor.h, and host_table,
 * host_limits and host_descriptor of kit/host_atom.h. What they are made of may change with any
 * version: whoever builds on it keeps a copy.
 */
#ifndef PURLIN_ATOM_CUH
#define PURLIN_ATOM_CUH

#include "purlin/device_abi.cuh"
#include "purlin/kit/bulk_ring_device.cuh"
#include "purlin/kit/direct_device.cuh"
#include "purlin/kit/warp_ring_device.cuh"

#endif  // PURLIN_ATOM_CUH
