#include "kernel_loops.h"

namespace purlin::atom_host {

constinit const Kernels kBaselineKernels = make_kernels();

}  // namespace purlin::atom_host
