// Built with -mavx2 on x86-64 (CMakeLists.txt). No intrinsics, and not `fma`: nothing may be
// contracted.
#if defined(__x86_64__)

#include "kernel_loops.h"

#if !defined(__AVX2__) || defined(__FMA__)
#error "kernels_avx2.cc is to be built with -mavx2 and without -mfma"
#endif

namespace purlin::atom_host {

constinit const Kernels kAvx2Kernels = make_kernels();

}  // namespace purlin::atom_host

#endif
