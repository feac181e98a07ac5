// Which forms are one program, and which are not.
#include <doctest/doctest.h>

#include "level.h"
#include "link/programs.h"
#include "program/request.h"

using namespace purlin;

namespace {

Digest digest_of(ProtocolKernel kernel, const snac::Form& form) {
  const BuiltAtom& atom = built_atom("generic");
  const auto request = protocol_request(
      kernel, constants_for(atom, kernel, form, 4, PURLIN_BF16, PURLIN_SUM), 90, atom.images);
  REQUIRE_MESSAGE(request.is_ok(), request.status().message());
  test::count_cases(1);
  return program_digest(*request);
}

snac::Form pushed(snac::Form form) {
  form.push[0] = form.push[1] = true;
  return form;
}
snac::Form to_some(snac::Form form) {
  form.everyone = false;
  return form;
}

}  // namespace

TEST_CASE("forms that a kernel's code cannot tell apart are one program") {
  if (!have_device_code()) return;
  const auto latency = ProtocolKernel::kLatency, throughput = ProtocolKernel::kThroughput;
  const snac::Form sum = all_reduce_form(4), exchange = all_to_all_form(4);
  snac::Form pulled = exchange;
  pulled.push[0] = false;
  CHECK(digest_of(latency, sum) == digest_of(latency, pushed(sum)));
  CHECK(digest_of(latency, sum) == digest_of(latency, to_some(sum)));
  CHECK(digest_of(throughput, sum) == digest_of(throughput, to_some(sum)));
  CHECK(digest_of(throughput, exchange) == digest_of(throughput, pulled));
  snac::Form few = all_gather_form(4);
  few.sources = 1;
  CHECK(digest_of(throughput, few) == digest_of(throughput, all_gather_form(4)));
}

TEST_CASE("every dtype and operation has the same universal program, and it is none of theirs") {
  if (!have_device_code()) return;
  const BuiltAtom& atom = built_atom("generic");
  for (auto kernel : {ProtocolKernel::kLatency, ProtocolKernel::kThroughput}) {
    const auto digest = [&](purlin_dtype dtype, purlin_op op, bool universal) {
      auto constants = constants_for(atom, kernel, all_reduce_form(4), 4, dtype, op);
      if (universal) constants = universal_of(kernel, constants);
      const auto request = protocol_request(kernel, constants, 90, atom.images);
      REQUIRE_MESSAGE(request.is_ok(), request.status().message());
      CHECK(check_request(*request).is_ok());
      test::count_cases(1);
      return program_digest(*request);
    };
    CHECK(digest(PURLIN_BF16, PURLIN_SUM, true) == digest(PURLIN_U64, PURLIN_PREMUL_SUM, true));
    CHECK(digest(PURLIN_BF16, PURLIN_SUM, true) != digest(PURLIN_BF16, PURLIN_SUM, false));
    CHECK(digest(PURLIN_U8, PURLIN_SUM, true) != digest(PURLIN_U8, PURLIN_SUM, false));
  }
}

TEST_CASE("a universal program of a device is reduced by the newest base that fits it") {
  if (!have_device_code()) return;
  const BuiltAtom& atom = built_atom("generic");
  const struct {
    uint32_t cc;
    const char* image;
  } cases[] = {{75, "any_reduction 75"}, {86, "any_reduction 80"}, {90, "any_reduction 89"}};
  for (const auto& one : cases) {
    constexpr auto kernel = ProtocolKernel::kLatency;
    const auto constants = universal_of(
        kernel, constants_for(atom, kernel, all_reduce_form(4), 4, PURLIN_BF16, PURLIN_SUM));
    const auto request = protocol_request(kernel, constants, one.cc, atom.images);
    REQUIRE_MESSAGE(request.is_ok(), request.status().message());
    REQUIRE(request->images.size() == 3);
    CHECK_MESSAGE(request->images.back().name.ends_with(one.image), request->images.back().name);
    test::count_cases(1);
  }
}

TEST_CASE("forms that matter to the code are programs of their own") {
  if (!have_device_code()) return;
  const auto latency = ProtocolKernel::kLatency, throughput = ProtocolKernel::kThroughput;
  const snac::Form sum = all_reduce_form(4);
  CHECK(digest_of(throughput, sum) != digest_of(throughput, pushed(sum)));
  CHECK(digest_of(throughput, pushed(sum)) != digest_of(throughput, to_some(pushed(sum))));
  CHECK(digest_of(latency, sum) != digest_of(latency, reduce_scatter_form(4)));
  CHECK(digest_of(latency, all_gather_form(4)) != digest_of(latency, all_to_all_form(4)));
  snac::Form few = reduce_scatter_form(4);
  few.sources = 3;
  CHECK(digest_of(throughput, few) != digest_of(throughput, reduce_scatter_form(4)));
}
