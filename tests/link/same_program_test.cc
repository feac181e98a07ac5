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
