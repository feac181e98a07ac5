#include "reduction.h"

#include "float_environment.h"
#include "kernels.h"
#include "purlin/kit/dtype.h"

namespace purlin::atom_host {

void reduce(const purlin_constants* constants, const void* const* sources, uint32_t nsrc,
            void* destination, uint64_t bytes) {
  const ReduceKernel kernel = best_kernels().reduce[constants->dtype][constants->op];
  const uint64_t count = bytes / kit::element_bytes(constants->dtype);
  const FloatEnvironment environment;
  kernel(sources, nsrc, destination, count, constants->nranks);
}

void scale(uint32_t dtype, const void* source, const void* scalar, void* destination,
           uint64_t bytes) {
  const ScaleKernel kernel = best_kernels().scale[dtype];
  const uint64_t count = bytes / kit::element_bytes(dtype);
  const FloatEnvironment environment;
  kernel(source, scalar, destination, count);
}

}  // namespace purlin::atom_host
