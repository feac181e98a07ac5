/* The one argument, by value, of the kernels of `purlin perf atom`. Addresses are the device's. */
#ifndef PURLIN_TOOLS_ATOM_BENCH_PARAMETERS_H
#define PURLIN_TOOLS_ATOM_BENCH_PARAMETERS_H

namespace purlin::tools {

struct AtomBenchParameters {
  unsigned long long in = 0, out = 0;
  unsigned long long bytes = 0;          // of the output, and of each source
  unsigned long long source_stride = 0;  // bytes from one source to the next
  unsigned long long chunk_bytes = 0;    // of a segment
  unsigned long long drain = 0;          // 1: empty the pipeline between segments
  unsigned long long steps = 0;          // of the chain of loads
};

}  // namespace purlin::tools

#endif
