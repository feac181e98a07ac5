#include "tools/check/float_environment.h"

#include <fmt/format.h>

#include <iterator>

namespace purlin::tools::check {
namespace {

constexpr OddEnvironment kOdd[] = {{"rounding upward", FE_UPWARD, false},
                                   {"rounding downward", FE_DOWNWARD, false},
                                   {"rounding toward zero", FE_TOWARDZERO, true},
                                   {"subnormals flushed to zero", FE_TONEAREST, true}};

// Flush-to-zero is set in the control word as the C library stores it; a machine without it keeps
// subnormals.
#if defined(__x86_64__)
constexpr unsigned kFlush = 0x8040;
void set_flush(bool on) {
  std::fenv_t now;
  std::fegetenv(&now);
  now.__mxcsr = on ? now.__mxcsr | kFlush : now.__mxcsr & ~kFlush;
  std::fesetenv(&now);
}
bool flushes() {
  std::fenv_t now;
  std::fegetenv(&now);
  return (now.__mxcsr & kFlush) == kFlush;
}
#elif defined(__aarch64__)
constexpr unsigned kFlush = 1u << 24;
void set_flush(bool on) {
  std::fenv_t now;
  std::fegetenv(&now);
  now.__fpcr = on ? now.__fpcr | kFlush : now.__fpcr & ~kFlush;
  std::fesetenv(&now);
}
bool flushes() {
  std::fenv_t now;
  std::fegetenv(&now);
  return (now.__fpcr & kFlush) != 0;
}
#else
void set_flush(bool) {}
bool flushes() { return false; }
#endif

const char* rounding_name(int rounding) {
  switch (rounding) {
    case FE_UPWARD:
      return "rounding upward";
    case FE_DOWNWARD:
      return "rounding downward";
    case FE_TOWARDZERO:
      return "rounding toward zero";
    default:
      return "rounding to nearest";
  }
}

}  // namespace

std::span<const OddEnvironment> odd_environments() { return kOdd; }

FloatEnvironment::FloatEnvironment(const OddEnvironment& odd) : odd_(odd) {
  std::fegetenv(&before_);
  std::fesetround(odd.rounding);
  set_flush(odd.flush);
  std::feclearexcept(FE_ALL_EXCEPT);
}

FloatEnvironment::~FloatEnvironment() { std::fesetenv(&before_); }

std::string FloatEnvironment::changes() const {
  std::string text;
  if (std::fegetround() != odd_.rounding) text = rounding_name(std::fegetround());
#if defined(__x86_64__) || defined(__aarch64__)
  if (flushes() != odd_.flush)
    text += fmt::format("{}subnormals {}", text.empty() ? "" : ", ",
                        odd_.flush ? "kept" : "flushed to zero");
#endif
  return text;
}

std::string describe_environment() {
  return fmt::format("{}, subnormals {}", rounding_name(std::fegetround()),
                     flushes() ? "flushed to zero" : "kept");
}

}  // namespace purlin::tools::check
