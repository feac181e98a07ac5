// Floating-point environments that a caller may have set.
#pragma once

#include <cfenv>
#include <span>
#include <string>

namespace purlin::tools::check {

struct OddEnvironment {
  const char* name;
  int rounding;  // FE_…
  bool flush;    // subnormals are flushed to zero, where the machine can
};
std::span<const OddEnvironment> odd_environments();

// Sets the environment for the length of a scope.
class FloatEnvironment {
 public:
  explicit FloatEnvironment(const OddEnvironment& odd);
  ~FloatEnvironment();
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

  // What differs now from what was set, in words; empty if nothing does.
  std::string changes() const;

 private:
  std::fenv_t before_{};
  OddEnvironment odd_;
};

// "rounding upward", "the default" …: what is set now, for comparisons.
std::string describe_environment();

}  // namespace purlin::tools::check
