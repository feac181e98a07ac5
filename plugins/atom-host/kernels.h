// The arithmetic on buffers: one function for each dtype and operation, in a version for each
// instruction set that this build knows. All versions give the same bits.
#pragma once

#include <cstdint>

#include "purlin/atom_abi.h"

namespace purlin::atom_host {

// Combines `nsrc` >= 1 sources of `count` elements in index order into `destination`, which may be
// one of the sources and overlaps none otherwise. Any alignment. Rounds as docs/numerics.md says if
// the floating-point environment does (float_environment.h).
using ReduceKernel = void (*)(const void* const* sources, uint32_t nsrc, void* destination,
                              uint64_t count, uint32_t nranks);

// destination[i] = source[i] * scalar, `scalar` pointing to one value of the accumulation type.
// destination may be source.
using ScaleKernel = void (*)(const void* source, const void* scalar, void* destination,
                             uint64_t count);

// Copies `bytes` bytes between buffers of any alignment that do not overlap.
using CopyKernel = void (*)(void* destination, const void* source, uint64_t bytes);

struct Kernels {
  ReduceKernel reduce[PURLIN_DTYPE_COUNT][PURLIN_OP_COUNT];
  ScaleKernel scale[PURLIN_DTYPE_COUNT];
  CopyKernel copy;
  CopyKernel stream;  // past the caches where the machine can: for what is not read again soon
};

extern const Kernels kBaselineKernels;  // what the compiler assumes of every machine
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;  // only where the CPU has AVX2
#endif

// The fastest ones that this machine can run. Costs a load and a test.
const Kernels& best_kernels();

}  // namespace purlin::atom_host
