// The Atoms of the switch, linked with SNAC's switch protocol for every device that they serve: what
// their instructions are. Nothing here runs.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "level.h"
#include "link/programs.h"
#include "runtime/program/link/inspect.h"
#include "snac/flow.h"

using namespace purlin;

namespace {

constexpr auto kSwitch = ProtocolKernel::kSwitch;

struct Served {
  const char* atom;
  uint32_t cc;
};
constexpr Served kServed[] = {{"nvls", 90},
                              {"nvls", 100},
                              {"nvls", 103},
                              {"nvls-blackwell", 100},
                              {"nvls-blackwell", 103}};

ProtocolConstants constants_of(const BuiltAtom& atom, snac::Collective collective, purlin_dtype dtype,
                               purlin_op op, uint32_t nranks = 8) {
  const snac::Form form = snac::switch_form_of(snac::transformation_of(collective), nranks);
  return constants_for(atom, kSwitch, form, nranks, dtype, op);
}

bool reduces(const BuiltAtom& atom, int dtype, int op) {
  return (atom.descriptor->limits->op_mask[dtype] >> op & 1u) != 0;
}

// The instruction for a dtype and operation, after "multimem.ld_reduce.relaxed.sys.global.".
std::string expected(int dtype, int op) {
  const bool sum = op == PURLIN_SUM;
  const std::string word = sum ? "add" : op == PURLIN_MIN ? "min" : "max";
  switch (dtype) {
    case PURLIN_F16: return word + (sum ? ".acc::f32.v4.f16x2" : ".v4.f16x2");
    case PURLIN_BF16: return word + (sum ? ".acc::f32.v4.bf16x2" : ".v4.bf16x2");
    case PURLIN_F8E4M3: return word + (sum ? ".acc::f16.v4.e4m3x4" : ".v4.e4m3x4");
    case PURLIN_F8E5M2: return word + (sum ? ".acc::f16.v4.e5m2x4" : ".v4.e5m2x4");
    case PURLIN_F32: return word + ".v4.f32";
    case PURLIN_F64: return word + ".f64";
    case PURLIN_I32: return word + (sum ? ".u32" : ".s32");
    case PURLIN_U32: return word + ".u32";
    case PURLIN_I64: return word + (sum ? ".u64" : ".s64");
    default: return word + ".u64";
  }
}

size_t times(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

constexpr const char* kLoad = "multimem.ld_reduce.relaxed.sys.global.";
constexpr const char* kStore = "multimem.st.relaxed.sys.global.v4.f32";

std::string ptx_for(const BuiltAtom& atom, const ProtocolConstants& constants, uint32_t cc) {
  const auto ptx = ptx_of(atom, kSwitch, constants, cc);
  REQUIRE_MESSAGE(ptx.is_ok(), ptx.status().message());
  return ptx.value();
}

}  // namespace

TEST_CASE("the switch's Atoms link for every device that they serve, without calls or local memory") {
  if (!have_device_code()) return;
  uint64_t turn = test::seed();
  for (const Served& served : kServed) {
    const BuiltAtom& atom = built_atom(served.atom);
    ++turn;
    for (auto collective : {snac::Collective::kAllReduce, snac::Collective::kReduceScatter,
                            snac::Collective::kAllGather}) {
      if (!test::is_full() && turn++ % 3 != 0) continue;  // a collective for each device, by turns
      for (uint32_t nranks : {2u, 8u, 16u}) {
        if (!test::is_full() && nranks != 8) continue;
        const auto constants = constants_of(atom, collective, PURLIN_BF16, PURLIN_SUM, nranks);
        const auto program = link_program(atom, kSwitch, constants, served.cc);
        REQUIRE_MESSAGE(program.is_ok(), program.status().message());
        const KernelResources* resources = (*program)->kernel(kernel_name(kSwitch));
        REQUIRE(resources != nullptr);
        INFO((*program)->name, " of ", std::string(served.atom), " for sm_", served.cc, ": ",
             resources->registers, " registers, ", resources->code_bytes, " bytes of code");
        CHECK(resources->local_bytes == 0);
        CHECK(resources->shared_bytes == 0);
        CHECK(resources->registers <= 128);
        CHECK(resources->code_bytes <= 60000);
        test::count_cases(1);
      }
    }
  }
}

TEST_CASE("PTX reduces each dtype and operation by its own instruction, and only so") {
  if (!have_device_code()) return;
  std::mt19937_64 random(test::seed() * 31 + 3);
  for (const Served& served : {Served{"nvls", 90}, Served{"nvls-blackwell", 100}}) {
    const BuiltAtom& atom = built_atom(served.atom);
    for (int dtype = 0; dtype < PURLIN_DTYPE_COUNT; ++dtype) {
      std::vector<int> ops;
      for (int op = 0; op < PURLIN_OP_COUNT; ++op)
        if (reduces(atom, dtype, op)) ops.push_back(op);
      std::shuffle(ops.begin(), ops.end(), random);
      if (!test::is_full() && ops.size() > 1) ops.resize(1);
      for (const int op : ops) {
        const bool narrow = dtype == PURLIN_F8E4M3 || dtype == PURLIN_F8E5M2;
        const bool every_quick = served.cc == 90 || narrow;
        if (!test::is_full() && !every_quick) continue;
        const std::string ptx =
            ptx_for(atom, constants_of(atom, snac::Collective::kAllReduce,
                                       static_cast<purlin_dtype>(dtype), static_cast<purlin_op>(op)),
                    served.cc);
        const std::string wanted = kLoad + expected(dtype, op) + " ";
        INFO(std::string(served.atom), " sm_", served.cc, ": ", wanted);
        CHECK(times(ptx, wanted) > 0);
        CHECK(times(ptx, kLoad) == times(ptx, wanted));
        CHECK(times(ptx, kStore) > 0);
        CHECK(times(ptx, "fence.proxy.alias") >= 2);
        CHECK(noncoherent_loads(ptx) == 0);
        test::count_cases(1);
      }
    }
  }
}

TEST_CASE("each collective uses what of the switch it needs") {
  if (!have_device_code()) return;
  const BuiltAtom& atom = built_atom("nvls");
  const auto ptx = [&](snac::Collective collective) {
    return ptx_for(atom, constants_of(atom, collective, PURLIN_F32, PURLIN_SUM), 90);
  };
  const std::string gathered = ptx(snac::Collective::kAllGather);
  CHECK(times(gathered, kStore) > 0);
  CHECK(times(gathered, "fence.proxy.alias") >= 2);
  const std::string scattered = ptx(snac::Collective::kReduceScatter);
  CHECK(times(scattered, kLoad) > 0);
  CHECK(times(scattered, "fence.proxy.alias") >= 2);
}

TEST_CASE("nothing else of Purlin holds an access to the switch") {
  if (!have_device_code()) return;
  for (const char* name : {"generic", "ampere", "hopper", "blackwell"}) {
    const BuiltAtom& atom = built_atom(name);
    const auto kernel = ProtocolKernel::kThroughput;
    const auto ptx =
        ptx_of(atom, kernel,
               constants_for(atom, kernel, all_reduce_form(4), 4, PURLIN_F32, PURLIN_SUM), 100);
    REQUIRE_MESSAGE(ptx.is_ok(), ptx.status().message());
    CHECK(times(*ptx, "multimem") == 0);
  }
}

TEST_CASE("the switch's Atoms do not declare what their instructions lack") {
  if (!have_device_code()) return;
  for (const char* name : {"nvls", "nvls-blackwell"}) {
    const BuiltAtom& atom = built_atom(name);
    const bool narrow = std::string(name) == "nvls-blackwell";
    CHECK((atom.descriptor->capabilities & PURLIN_CAP_REDUCE) == 0);
    for (int dtype = 0; dtype < PURLIN_DTYPE_COUNT; ++dtype) {
      CAPTURE(dtype);
      const bool fp8 = dtype == PURLIN_F8E4M3 || dtype == PURLIN_F8E5M2;
      const bool bytes = dtype == PURLIN_I8 || dtype == PURLIN_U8;
      const bool sums = fp8 ? narrow : !bytes;
      const bool extremes = sums && dtype != PURLIN_F32 && dtype != PURLIN_F64;
      CHECK(reduces(atom, dtype, PURLIN_SUM) == sums);
      CHECK(reduces(atom, dtype, PURLIN_MIN) == extremes);
      CHECK(reduces(atom, dtype, PURLIN_MAX) == extremes);
      for (int op : {PURLIN_PROD, PURLIN_AVG, PURLIN_PREMUL_SUM})
        CHECK_FALSE(reduces(atom, dtype, op));
    }
  }
}

TEST_CASE("machine code holds the switch's loads and stores") {
  if (!have_device_code()) return;
  for (const Served& served : {Served{"nvls", 90}, Served{"nvls-blackwell", 100}}) {
    const BuiltAtom& atom = built_atom(served.atom);
    const auto constants =
        constants_of(atom, snac::Collective::kAllReduce, PURLIN_F32, PURLIN_SUM);
    const auto program = link_program(atom, kSwitch, constants, served.cc);
    REQUIRE_MESSAGE(program.is_ok(), program.status().message());
    const auto sass = disassemble((*program)->cubin);
    if (!sass) return;
    const MachineCode code = count_instructions(*sass);
    CHECK(code.instructions > 300);
    CHECK(code.calls == 0);
    CHECK(code.local == 0);
    CHECK(code.noncoherent == 0);
    INFO(std::string(served.atom));
    CHECK(times(*sass, "LDGMC.E.ADD.F32x4") > 0);
    CHECK(times(*sass, "STG.E.128.STRONG.SYS") > 0);  // a multicast store looks like any other
    test::count_cases(1);
  }
}
