// What the instructions of hot kernels say.
#include <doctest/doctest.h>

#include <regex>

#include "level.h"
#include "link/programs.h"
#include "runtime/program/link/inspect.h"

using namespace purlin;

namespace {

bool has(const std::string& text, const char* pattern) {
  return std::regex_search(text, std::regex(pattern));
}

ProtocolConstants sum_constants(const BuiltAtom& atom, ProtocolKernel kernel, purlin_dtype dtype) {
  return constants_for(atom, kernel, all_reduce_form(4), 4, dtype, PURLIN_SUM);
}

// SASS of an AllReduce's sum; empty without a disassembler.
std::string sum_of(const char* name, ProtocolKernel kernel, purlin_dtype dtype, uint32_t cc) {
  const BuiltAtom& atom = built_atom(name);
  const auto program = link_program(atom, kernel, sum_constants(atom, kernel, dtype), cc);
  REQUIRE_MESSAGE(program.is_ok(), program.status().message());
  return disassemble((*program)->cubin).value_or("");
}

struct Pair {
  const char* atom;
  uint32_t cc;
};
constexpr Pair kOwnDevices[] = {
    {"generic", 75}, {"ampere", 80}, {"hopper", 90}, {"blackwell", 100}};

// Quick tries every pair of Atom, protocol and one of two dtypes: the dtypes take turns.
bool is_its_turn(const Pair& pair, ProtocolKernel kernel, bool first_dtype) {
  const auto atom = static_cast<uint64_t>(&pair - kOwnDevices);
  const bool odd = (test::seed() + atom + (kernel == ProtocolKernel::kLatency)) % 2 != 0;
  return test::is_full() || odd == first_dtype;
}

}  // namespace

TEST_CASE("hot kernels hold no call, no local memory, no contraction and no non-coherent load") {
  if (!have_device_code()) return;
  for (const Pair& pair : kOwnDevices) {
    for (auto kernel : {ProtocolKernel::kLatency, ProtocolKernel::kThroughput}) {
      for (purlin_dtype dtype : {PURLIN_F32, PURLIN_BF16}) {
        if (!is_its_turn(pair, kernel, dtype == PURLIN_F32)) continue;
        const std::string sass = sum_of(pair.atom, kernel, dtype, pair.cc);
        if (sass.empty()) return;
        INFO(std::string(pair.atom), " sm_", pair.cc, " ", std::string(kernel_name(kernel)),
             " dtype ", +dtype);
        const MachineCode code = count_instructions(sass);
        CHECK(code.instructions > 500);
        CHECK(code.f32_sums > 0);
        CHECK(code.contractions == 0);
        CHECK(code.calls == 0);
        CHECK(code.local == 0);
        CHECK(code.noncoherent == 0);
        test::count_cases(1);
      }
    }
  }
}

TEST_CASE("PTX holds no contraction and no non-coherent load, whatever the dtype") {
  if (!have_device_code()) return;
  for (const Pair& pair : kOwnDevices) {
    const BuiltAtom& atom = built_atom(pair.atom);
    for (auto kernel : {ProtocolKernel::kLatency, ProtocolKernel::kThroughput}) {
      for (int d = 0; d < PURLIN_DTYPE_COUNT; ++d) {
        const auto dtype = static_cast<purlin_dtype>(d);
        if (!test::is_full() && dtype != PURLIN_F64 && dtype != PURLIN_F16) continue;
        if (!is_its_turn(pair, kernel, dtype == PURLIN_F64)) continue;
        const auto ptx = ptx_of(atom, kernel, sum_constants(atom, kernel, dtype), pair.cc);
        REQUIRE_MESSAGE(ptx.is_ok(), ptx.status().message());
        INFO(std::string(pair.atom), " sm_", pair.cc, " ", std::string(kernel_name(kernel)),
             " dtype ", d);
        CHECK(ptx->find("add") != std::string::npos);
        CHECK(contractions(*ptx) == 0);
        CHECK(noncoherent_loads(*ptx) == 0);
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
