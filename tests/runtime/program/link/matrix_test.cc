// Links the toy program for every device and looks at what came out.
#include <doctest/doctest.h>

#include <regex>

#include "level.h"
#include "program/finish.h"
#include "program/link.h"
#include "runtime/program/link/inspect.h"
#include "runtime/program/link/toy.h"

using namespace purlin;

namespace {

constexpr uint32_t kDevices[] = {75, 80, 86, 89, 90, 100, 103, 120};

Toolbox& tools() {
  static Toolbox toolbox(default_library_search());
  return toolbox;
}

}  // namespace

TEST_CASE("the toy program links for every device, within its registers and without local memory") {
  if (!have_toy_images()) return;
  for (const uint32_t cc : kDevices) {
    CAPTURE(cc);
    const auto request = toy_request(cc);
    REQUIRE(request.is_ok());
    REQUIRE(check_request(*request).is_ok());
    ProgramTrace trace;
    auto cubin = link_cubin(*request, tools(), trace);
    REQUIRE_MESSAGE(cubin.is_ok(), cubin.status().message());
    auto program = finish_program(*request, program_digest(*request), ProgramOrigin::kLinked,
                                  (*tools().linker())->release(), std::move(*cubin), trace);
    REQUIRE_MESSAGE(program.is_ok(), program.status().message());
    const KernelResources* kernel = (*program)->kernel("toy_program");
    REQUIRE(kernel != nullptr);
    CHECK(kernel->registers > 0);
    CHECK(kernel->registers <= 64);
    CHECK(kernel->local_bytes == 0);
    CHECK(kernel->shared_bytes == 0);
    CHECK(kernel->code_bytes > 0);
    CHECK(trace.empty());
    test::count_cases(1);
  }
}

TEST_CASE("machine code holds no call, no local memory and no contraction") {
  if (!have_toy_images()) return;
  for (const uint32_t cc : {75u, 90u, 100u}) {
    CAPTURE(cc);
    const auto request = toy_request(cc);
    REQUIRE(request.is_ok());
    ProgramTrace trace;
    const auto cubin = link_cubin(*request, tools(), trace);
    REQUIRE(cubin.is_ok());
    const auto sass = disassemble(*cubin);
    if (!sass) return;
    const MachineCode code = count_instructions(*sass);
    CHECK(code.instructions > 20);
    CHECK(code.f32_sums > 0);
    CHECK(code.calls == 0);
    CHECK(code.local == 0);
    CHECK(code.contractions == 0);
    test::count_cases(1);
  }
}

TEST_CASE("constants decide how far the loop over ranks goes") {
  if (!have_toy_images()) return;
  for (const uint64_t nranks : {1ull, 2ull, 8ull}) {
    const auto request = toy_request(90, nranks);
    REQUIRE(request.is_ok());
    ProgramTrace trace;
    const auto ptx = link_ptx(*request, tools(), trace);
    REQUIRE_MESSAGE(ptx.is_ok(), ptx.status().message());
    CHECK(ptx->find("purlin_constant") == std::string::npos);
    CHECK(ptx->find("fma.rn.f32") == std::string::npos);
    const std::regex add(R"(add(\.rn)?\.f32)");
    const auto additions =
        std::distance(std::sregex_iterator(ptx->begin(), ptx->end(), add), std::sregex_iterator());
    // The body over all sources but the first, once or unrolled over elements.
    if (nranks == 1) {
      CHECK(additions == 0);
    } else {
      CHECK(additions > 0);
      CHECK(static_cast<uint64_t>(additions) % (nranks - 1) == 0);
    }
  }
}

TEST_CASE("the same request gives the same bytes") {
  if (!have_toy_images()) return;
  const auto request = toy_request(90);
  REQUIRE(request.is_ok());
  ProgramTrace trace;
  const auto first = link_cubin(*request, tools(), trace);
  const auto second = link_cubin(*request, tools(), trace);
  REQUIRE(first.is_ok());
  REQUIRE(second.is_ok());
  CHECK(*first == *second);
}
