#include "kernels.h"

namespace purlin::atom_host {

// Chosen by a plain test at each call rather than by the loader: functions resolved at load time
// run before a sanitizer is ready.
const Kernels& best_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return kAvx2Kernels;
#endif
  return kBaselineKernels;
}

}  // namespace purlin::atom_host
