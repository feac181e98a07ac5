// The floating-point environment of the host Atom's arithmetic.
#pragma once

#if defined(__x86_64__) || defined(__aarch64__)
#include <cstdint>
#else
#include <cfenv>
#endif

namespace purlin::atom_host {

// While one lives, this thread rounds to nearest even, keeps subnormals and takes no floating-point
// traps. Its end brings back exactly what was before, status flags included. Costs a few cycles if
// the environment is right already. To be made and destroyed by one thread, in a function that
// calls the arithmetic through a pointer: compilers move arithmetic across a change of environment
// otherwise.
class FloatEnvironment {
 public:
  FloatEnvironment();
  ~FloatEnvironment();
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  uint32_t saved_;
#elif defined(__aarch64__)
  uint64_t saved_control_;
  uint64_t saved_status_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace purlin::atom_host
