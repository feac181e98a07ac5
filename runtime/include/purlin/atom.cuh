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
 */
#ifndef PURLIN_ATOM_CUH
#define PURLIN_ATOM_CUH

#include "purlin/device_abi.cuh"
#include "purlin/kit/bulk_ring_device.cuh"
#include "purlin/kit/direct_device.cuh"
#include "purlin/kit/warp_ring_device.cuh"

#endif  // PURLIN_ATOM_CUH
