// Every Atom linked for every device that it can serve, within the budgets of budgets.txt.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <vector>

#include "level.h"
#include "link/programs.h"

using namespace purlin;

namespace {

struct Budget {
  uint32_t registers = 0;
  uint32_t code = 0;
  uint32_t cubin = 0;
};

bool is_fp8(purlin_dtype dtype) { return dtype == PURLIN_F8E4M3 || dtype == PURLIN_F8E5M2; }

Budget budget_of(const std::string& atom, ProtocolKernel kernel, const std::string& consume) {
  const bool latency = kernel == ProtocolKernel::kLatency;
  std::ifstream file(PURLIN_SOURCE_DIR "/tests/link/budgets.txt");
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string name, protocol, of;
    Budget budget;
    words >> name >> protocol >> of >> budget.registers >> budget.code >> budget.cubin;
    if (words && name == (latency ? "any" : atom) &&
        protocol == (latency ? "latency" : "throughput") && of == consume) {
      return budget;
    }
  }
  FAIL("budgets.txt has no line for ", atom, " ", consume);
  return {};
}

const char* windows_line(const ProtocolConstants& constants) {
  return constants.form.reduces ? "places-sum" : "places";
}

void check_constants(const std::string& name, ProtocolKernel kernel,
                     const ProtocolConstants& constants, uint32_t cc) {
  const BuiltAtom& atom = built_atom(name);
  const auto program = link_program(atom, kernel, constants, cc);
  REQUIRE_MESSAGE(program.is_ok(), program.status().message());
  const KernelResources* resources = (*program)->kernel(kernel_name(kernel));
  REQUIRE(resources != nullptr);
  INFO((*program)->name, " of ", name, " for sm_", cc, ": ", resources->registers, " registers, ",
       resources->code_bytes, " bytes of code, ", (*program)->cubin.size(), " of cubin");
  // Sources of any type at 16 ranks do not all fit into registers.
  CHECK(resources->local_bytes <= (constants.universal && constants.nranks > 8 ? 512 : 0));
  // Groups share a CTA: nothing is static but a universal program's choice and the flows of counts.
  CHECK(resources->shared_bytes <= static_shared_bytes(constants));
  CHECK(resources->registers <= register_limit(constants.threads));
  if (constants.nranks <= 8) {
    const Budget budget = budget_of(name, kernel,
                                    constants.form.windows    ? windows_line(constants)
                                    : constants.form.listed   ? "listed"
                                    : !constants.form.reduces ? "copy"
                                    : constants.universal     ? "universal"
                                    : is_fp8(constants.dtype) ? "fp8"
                                                                  : "reduce");
    const bool scales = constants.op == PURLIN_PREMUL_SUM || constants.op == PURLIN_AVG;
    if (!scales) CHECK(resources->registers <= budget.registers);
    // Budgets are those of sums at 8 ranks. Other operations on small elements take more instructions,
    // above all scaling for each peer; with fewer ranks more words are combined at once.
    const bool much = constants.op == PURLIN_PREMUL_SUM || (constants.universal && constants.nranks < 8);
    const uint32_t quarters = much ? 6 : constants.op == PURLIN_SUM ? 4 : 5;
    CHECK(resources->code_bytes <= budget.code / 4 * quarters);
    CHECK((*program)->cubin.size() <= budget.cubin / 4 * quarters);
  }
  test::count_cases(1);
}

void check_program(const std::string& name, ProtocolKernel kernel, const snac::Form& form,
                   purlin_dtype dtype, purlin_op op, uint32_t cc, uint32_t nranks = 8) {
  const BuiltAtom& atom = built_atom(name);
  check_constants(name, kernel, constants_for(atom, kernel, form, nranks, dtype, op), cc);
}

// One program for every dtype and operation.
void check_universal(const std::string& name, ProtocolKernel kernel, const snac::Form& form,
                     uint32_t cc, uint32_t nranks = 8) {
  const BuiltAtom& atom = built_atom(name);
  check_constants(
      name, kernel,
      universal_of(kernel, constants_for(atom, kernel, form, nranks, PURLIN_F32, PURLIN_SUM)), cc);
}

// A V form that reads its counts in the kernel.
void check_listed(const std::string& name, ProtocolKernel kernel, snac::Form form, uint32_t cc,
                  uint32_t nranks = 8) {
  form.listed = true;
  check_program(name, kernel, form, PURLIN_BF16, PURLIN_SUM, cc, nranks);
}

// A call whose ranks may offer registered buffers.
void check_windows(const std::string& name, snac::Form form, uint32_t cc, uint32_t nranks = 8) {
  form.windows = true;
  check_program(name, ProtocolKernel::kThroughput, form, PURLIN_BF16, PURLIN_SUM, cc, nranks);
}

constexpr purlin_dtype kOneOfEachWidth[] = {PURLIN_F8E4M3, PURLIN_BF16, PURLIN_F32, PURLIN_F64};

// Quick: a copy by each protocol, a sum of one width, which is another for each device, and
// universal programs; with the generic Atom also by packets, from counts, and a sum without a
// second step. All of them for the device that the Atom is made for, and for every other device
// some that the seed draws.
void check_quick(const std::string& name, uint32_t cc) {
  const purlin_dtype dtype = kOneOfEachWidth[cc / 10 % 4];
  const auto latency = ProtocolKernel::kLatency, throughput = ProtocolKernel::kThroughput;
  const auto copy = [&](auto kernel) {
    check_program(name, kernel, all_gather_form(8), PURLIN_U8, PURLIN_SUM, cc);
  };
  const auto sum = [&](auto kernel) {
    check_program(name, kernel, all_reduce_form(8), dtype, PURLIN_SUM, cc);
  };
  std::vector<std::function<void()>> programs = {
      [&] { copy(throughput); },
      [&] { sum(throughput); },
      [&] { copy(latency); },
      [&] { check_universal(name, throughput, all_reduce_form(8), cc); },
      [&] { check_windows(name, all_gather_form(8), cc); },
      [&] { check_windows(name, all_reduce_form(8), cc); },
  };
  if (name == "generic") {
    programs.insert(programs.end(),
                    {
                        [&] { sum(latency); },
                        [&] { check_universal(name, latency, all_reduce_form(8), cc); },
                        [&] { check_listed(name, latency, all_gather_form(8), cc); },
                        [&] { check_listed(name, throughput, all_to_all_form(8), cc); },
                        [&] {
                          check_program(name, throughput, reduce_scatter_form(8), PURLIN_BF16,
                                        PURLIN_SUM, cc);
                        },
                    });
  }
  if (!test::is_full() && built_atom(name).descriptor->architecture != cc) {
    std::mt19937_64 random(test::seed() * 31 + cc);
    std::shuffle(programs.begin(), programs.end(), random);
    programs.resize(programs.size() / 3);
  }
  for (const auto& check : programs) check();
}

// Full: every dtype with every operation, and every direction and number of sources.
void check_full(const std::string& name, uint32_t cc) {
  for (int dtype = 0; dtype < PURLIN_DTYPE_COUNT; ++dtype) {
    for (int op = 0; op < PURLIN_OP_COUNT; ++op) {
      for (auto kernel : {ProtocolKernel::kLatency, ProtocolKernel::kThroughput}) {
        check_program(name, kernel, all_reduce_form(8), static_cast<purlin_dtype>(dtype),
                      static_cast<purlin_op>(op), cc);
      }
    }
  }
  for (uint32_t n : {2u, 3u, 16u}) {
    for (bool push : {false, true}) {
      check_program(name, ProtocolKernel::kThroughput, all_reduce_form(n, push), PURLIN_BF16,
                    PURLIN_SUM, cc, n);
    }
    check_program(name, ProtocolKernel::kThroughput, all_to_all_form(n), PURLIN_U8, PURLIN_SUM, cc,
                  n);
    for (const snac::Form& form : {all_gather_form(n), reduce_scatter_form(n), all_to_all_form(n),
                                   all_reduce_form(n), all_reduce_form(n, true)})
      check_windows(name, form, cc, n);
    for (auto kernel : {ProtocolKernel::kLatency, ProtocolKernel::kThroughput}) {
      for (const snac::Form& form :
           {all_gather_form(n), reduce_scatter_form(n), all_to_all_form(n)})
        check_listed(name, kernel, form, cc, n);
      check_universal(name, kernel, all_reduce_form(n), cc, n);
      check_universal(name, kernel, reduce_scatter_form(n), cc, n);
    }
  }
}

void check_pair(const std::string& name, uint32_t cc) {
  if (!have_device_code()) return;
  check_quick(name, cc);
  if (test::is_full()) check_full(name, cc);
}

}  // namespace

#define LINKS(atom, cc) \
  TEST_CASE("the " #atom " Atom links for sm_" #cc) { check_pair(#atom, cc); }

LINKS(generic, 75)
LINKS(generic, 80)
LINKS(generic, 86)
LINKS(generic, 89)
LINKS(generic, 90)
LINKS(generic, 100)
LINKS(generic, 103)
LINKS(generic, 120)
LINKS(ampere, 80)
LINKS(ampere, 86)
LINKS(ampere, 89)
LINKS(ampere, 90)
LINKS(ampere, 100)
LINKS(ampere, 103)
LINKS(ampere, 120)
LINKS(hopper, 90)
LINKS(hopper, 100)
LINKS(hopper, 103)
LINKS(hopper, 120)
LINKS(blackwell, 100)
LINKS(blackwell, 103)
LINKS(blackwell, 120)

TEST_CASE("an Atom is refused for devices older than it, in words") {
  if (!have_device_code()) return;
  const struct {
    const char* atom;
    uint32_t cc;
    const char* words;
  } cases[] = {{"ampere", 75, "sm_75"}, {"hopper", 89, "sm_89"}, {"blackwell", 90, "sm_90"}};
  for (const auto& c : cases) {
    const BuiltAtom& atom = built_atom(c.atom);
    const auto program = link_program(atom, ProtocolKernel::kThroughput,
                                      constants_for(atom, ProtocolKernel::kThroughput,
                                                    all_reduce_form(2), 2, PURLIN_F32, PURLIN_SUM),
                                      c.cc);
    REQUIRE_FALSE(program.is_ok());
    CHECK(program.status().code() == PURLIN_LINK_ERROR);
    const std::string text = program.status().message();
    CHECK_MESSAGE(text.find(c.words) != std::string::npos, text);
    CHECK_MESSAGE(text.find(c.atom) != std::string::npos, text);
  }
}
