// The caller's floating-point environment neither changes a bit of the result nor is changed.
#include <doctest/doctest.h>

#include <cfenv>
#include <cstdint>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "plugin.h"
#include "reference/patterns.h"
#include "reference/reference.h"

namespace {

namespace reference = purlin::reference;
using namespace purlin::atom_host_test;

// The control and status word of vector arithmetic; on other machines what <cfenv> knows of it.
uint32_t environment() {
#if defined(__x86_64__)
  return _mm_getcsr();
#else
  return static_cast<uint32_t>(std::fegetround()) << 8 |
         static_cast<uint32_t>(std::fetestexcept(FE_ALL_EXCEPT));
#endif
}

// Makes the environment as unfriendly as the machine allows for the life of the object.
class Hostile {
 public:
  explicit Hostile(int rounding) {
    std::fegetenv(&saved_);
    std::fesetround(rounding);
#if defined(__x86_64__)
    constexpr uint32_t kFlushBoth = 0x8040;
    constexpr uint32_t kMaskOverflowUnderflowInvalid = 0x0C80;
    _mm_setcsr((_mm_getcsr() | kFlushBoth) & ~kMaskOverflowUnderflowInvalid);
#endif
  }
  ~Hostile() { std::fesetenv(&saved_); }

 private:
  std::fenv_t saved_;
};

struct Input {
  std::vector<std::vector<unsigned char>> contents;
  std::vector<const void*> sources;
  std::vector<unsigned char> expected;
};

Input input_of(purlin_dtype dtype, purlin_op op, uint64_t count, uint32_t n) {
  Input input;
  for (uint32_t r = 0; r < n; ++r) {
    input.contents.push_back(reference::mixed_elements(dtype, count, 40u + r));
  }
  for (const auto& content : input.contents) input.sources.push_back(content.data());
  input.expected.resize(input.contents[0].size());
  reference::reduce(dtype, op, input.sources.data(), n, n, count, input.expected.data());
  return input;
}

TEST_CASE("a hostile environment changes no bit and comes back as it was") {
  for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    for (int d = PURLIN_F16; d < PURLIN_DTYPE_COUNT; ++d) {
      for (int o = 0; o < PURLIN_OP_COUNT; ++o) {
        for (const uint32_t n : {2u, 3u}) {
          const auto dtype = static_cast<purlin_dtype>(d);
          const auto op = static_cast<purlin_op>(o);
          const Input input = input_of(dtype, op, 700, n);
          std::vector<unsigned char> found(input.expected.size());
          const purlin_constants constants = constants_of(dtype, op, n);
          uint32_t before = 0;
          uint32_t after = 0;
          {
            const Hostile hostile(rounding);
            before = environment();
            host_atom().reduce(&constants, input.sources.data(), n, found.data(), found.size());
            after = environment();
          }
          CAPTURE(rounding);
          CAPTURE(reference::name_of(dtype));
          CAPTURE(reference::name_of(op));
          CHECK(before == after);
          CHECK(found == input.expected);
        }
      }
    }
  }
}

TEST_CASE("scaling too") {
  const auto content = reference::mixed_elements(PURLIN_F32, 700, 9);
  const float scalar = 1.0f / 3.0f;
  std::vector<unsigned char> expected(content.size());
  std::vector<unsigned char> found(content.size());
  reference::scale(PURLIN_F32, content.data(), &scalar, 700, expected.data());
  uint32_t before = 0;
  uint32_t after = 0;
  {
    const Hostile hostile(FE_UPWARD);
    before = environment();
    host_atom().scale(PURLIN_F32, content.data(), &scalar, found.data(), content.size());
    after = environment();
  }
  CHECK(before == after);
  CHECK(found == expected);
}

TEST_CASE("status flags that the caller had raised, or not, stay so") {
  const Input input = input_of(PURLIN_F32, PURLIN_PROD, 700, 3);
  const purlin_constants constants = constants_of(PURLIN_F32, PURLIN_PROD, 3);
  std::vector<unsigned char> found(input.expected.size());
  for (const int raised : {0, FE_DIVBYZERO}) {
    std::feclearexcept(FE_ALL_EXCEPT);
    if (raised != 0) std::feraiseexcept(raised);
    host_atom().reduce(&constants, input.sources.data(), 3, found.data(), found.size());
    CHECK(std::fetestexcept(FE_ALL_EXCEPT) == raised);
  }
  std::feclearexcept(FE_ALL_EXCEPT);
}

}  // namespace
