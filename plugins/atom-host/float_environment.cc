// <cfenv> knows neither flush-to-zero nor, on x86-64, how to leave the x87 unit alone; so the
// registers themselves where we know them, and <cfenv> elsewhere.
#include "float_environment.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace purlin::atom_host {

#if defined(__x86_64__)

namespace {

// MXCSR: 0-5 status flags, 6 subnormal operands as zero, 7-12 traps masked, 13-14 rounding, 15
// subnormal results as zero.
constexpr uint32_t kStatus = 0x003F;
constexpr uint32_t kWanted = 0x1F80;

}  // namespace

FloatEnvironment::FloatEnvironment() : saved_(_mm_getcsr()) {
  if ((saved_ & ~kStatus) != kWanted) _mm_setcsr(kWanted);
}

FloatEnvironment::~FloatEnvironment() {
  if (_mm_getcsr() != saved_) _mm_setcsr(saved_);
}

#elif defined(__aarch64__)

namespace {

// FPCR bits that must be clear: 0-2 alternate behaviour, 8-12 and 15 traps, 19 and 24 flush to
// zero, 22-23 rounding, 25 default NaN.
constexpr uint64_t kSteering = 0x03C89F07;

uint64_t read_status() {
  uint64_t value;
  asm volatile("mrs %0, fpsr" : "=r"(value));
  return value;
}

void write_control(uint64_t value) { asm volatile("msr fpcr, %0" : : "r"(value) : "memory"); }

}  // namespace

FloatEnvironment::FloatEnvironment() : saved_status_(read_status()) {
  asm volatile("mrs %0, fpcr" : "=r"(saved_control_));
  if ((saved_control_ & kSteering) != 0) write_control(saved_control_ & ~kSteering);
}

FloatEnvironment::~FloatEnvironment() {
  if ((saved_control_ & kSteering) != 0) write_control(saved_control_);
  if (read_status() != saved_status_)
    asm volatile("msr fpsr, %0" : : "r"(saved_status_) : "memory");
}

#else

FloatEnvironment::FloatEnvironment() {
  std::feholdexcept(&saved_);
  std::fesetround(FE_TONEAREST);
}

FloatEnvironment::~FloatEnvironment() { std::fesetenv(&saved_); }

#endif

}  // namespace purlin::atom_host
