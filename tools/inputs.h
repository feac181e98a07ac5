// Fresh random inputs that anybody can make again: element i of rank r is a pure function of
// (seed, rank, size, iteration, i), so a checker needs no copy of anyone's buffer.
#pragma once

#include <cstdint>
#include <vector>

namespace purlin::tools {

// What the inputs are for. Copies get arbitrary bits. Reductions get values on which a wrong order,
// a lost source or a second rounding shows: floats of both signs over eight binades with full
// mantissas and now and then an infinity, a NaN or an extreme; integers over their full range, odd
// ones for products (even factors soon wrap to zero). No element is zero.
struct InputSource {
  int dtype = 0;
  bool reducing = false;
  int op = 0;  // reductions only
  uint64_t seed = 0, bytes = 0, iteration = 0;

  // Elements first .. first + count - 1 of `rank`, written to `out` (any alignment).
  void block(int rank, uint64_t first, uint64_t count, void* out) const;
};

// The scalar that `rank` passes for a pre-multiplied sum: one value of the accumulation type.
// Differs between ranks. The storage is at most 8 bytes.
struct Scalar {
  alignas(8) unsigned char bytes[8];
};
Scalar premul_scalar(int dtype, int rank);
std::vector<Scalar> premul_scalars(int dtype, int nranks);

}  // namespace purlin::tools
