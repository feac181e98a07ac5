// What the instructions of hot kernels say.
#include <doctest/doctest.h>

#include <regex>

#include "level.h"
#include "link/programs.h"

using namespace purlin;

namespace {

bool has(const std::string& text, const char* pattern) {
  return std::regex_search(text, std::regex(pattern));
}

// SASS of an AllReduce's sum; empty without a disassembler.
std::string sum_of(const char* name, ProtocolKernel kernel, purlin_dtype dtype, uint32_t cc,
                   uint32_t nranks = 4) {
  const BuiltAtom& atom = built_atom(name);
  const auto program = link_program(
      atom, kernel, constants_for(atom, kernel, all_reduce_form(nranks), nranks, dtype, PURLIN_SUM),
      cc);
  REQUIRE_MESSAGE(program.is_ok(), program.status().message());
  return disassemble(**program).value_or("");
}

}  // namespace

TEST_CASE("hot kernels hold no call, no local memory, no contraction and no non-coherent load") {
  if (!have_device_code()) return;
  const struct {
    const char* atom;
    uint32_t cc;
  } pairs[] = {{"generic", 75}, {"ampere", 80}, {"hopper", 90}, {"blackwell", 100}};
  for (const auto& pair : pairs) {
    for (auto kernel : {ProtocolKernel::kLatency, ProtocolKernel::kThroughput}) {
      for (purlin_dtype dtype : {PURLIN_F32, PURLIN_BF16}) {
        const std::string sass = sum_of(pair.atom, kernel, dtype, pair.cc);
        if (sass.empty()) return;
        INFO(std::string(pair.atom), " sm_", pair.cc, " ", std::string(kernel_name(kernel)),
             " dtype ", +dtype);
        CHECK(has(sass, R"(\bFADD\b)"));
        CHECK_FALSE(has(sass, R"(\bFFMA\b)"));
        // Labels within the kernel, and ptxas's own handful of instructions for votes among lanes
        // that may have diverged, are no functions.
        CHECK_FALSE(has(sass, R"(\bCALL\.\S+ `\((?!\.L_x_|\$__internal_\d+_\$__cuda_sm70_))"));
        CHECK_FALSE(has(sass, R"(\bCALL\.ABS\b)"));
        CHECK_FALSE(has(sass, R"(\b(LDL|STL)\b)"));
        CHECK_FALSE(has(sass, R"(\bLDG\S*\.CONSTANT)"));
        test::count_cases(1);
      }
    }
  }
}

TEST_CASE("each Atom moves bytes by its hardware's means") {
  if (!have_device_code()) return;
  const auto kernel = ProtocolKernel::kThroughput;
  const std::string generic = sum_of("generic", kernel, PURLIN_F32, 75);
  if (generic.empty()) return;
  CHECK(has(generic, R"(\bLDG\.E\.128\b)"));
  CHECK(has(generic, R"(\bSTG\.E\.128\b)"));
  CHECK(has(sum_of("ampere", kernel, PURLIN_F32, 80), R"(\bLDGSTS\S*\.128\b)"));
  const std::string hopper = sum_of("hopper", kernel, PURLIN_F32, 90);
  CHECK(has(hopper, R"(\bUBLKCP\.S\.G\b)"));  // load
  CHECK(has(hopper, R"(\bUBLKCP\.G\.S\b)"));  // store
  CHECK(has(hopper, R"(\bLDS\.128\b)"));
  CHECK(has(sum_of("blackwell", kernel, PURLIN_F32, 100), R"(\bSTG\S*\.256\b)"));
}

TEST_CASE("packets are one access of 128 bits each") {
  if (!have_device_code()) return;
  for (uint32_t cc : {75u, 90u, 100u}) {
    const std::string sass = sum_of("generic", ProtocolKernel::kLatency, PURLIN_F32, cc);
    if (sass.empty()) return;
    CHECK(has(sass, R"(\bSTG\.E\.128\.STRONG\.SYS\b)"));
    CHECK(has(sass, R"(\bLDG\.E\.128\.STRONG\.SYS\b)"));
  }
}
