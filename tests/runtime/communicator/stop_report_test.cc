// Errors made of what a stopped rank left behind.
#include "communicator/stop_report.h"

#include <doctest/doctest.h>

using namespace purlin;

namespace {

// Of rank 0, which waited for rank 1 as `step` and `chunk` say.
Status timeout_at(snac::u32 step, snac::u64 chunk) {
  snac::Control own{};
  own.stop = 1;
  own.recorded = 1;
  own.record.kind = snac::StopKind::kTimeout;
  own.record.peer = 1;
  own.record.epoch = 7;
  own.record.step = step;
  own.record.chunk = chunk;
  own.record.expected_call = snac::describe_call(snac::Collective::kAllGather, PURLIN_F32, 0, 0, 100);
  return report_stop(
      own, 0, -1, "main", [](int) { return nullptr; },
      [](int rank) { return "rank " + std::to_string(rank); });
}

}  // namespace

TEST_CASE("a wait for a peer's bytes is named with its chunk") {
  const Status status = timeout_at(1, 5);
  CHECK(status.code() == PURLIN_TIMEOUT);
  CHECK_MESSAGE(
      status.message().starts_with("communicator main: rank 0 waited for rank 1 beyond the time "
                                   "limit, in all_gather of 100 f32, epoch 7, step 2, chunk 5; "),
      status.message());
}

TEST_CASE("a wait for a peer that still reads is named as such, without the peer's CTA") {
  const Status status = timeout_at(1 | snac::kExitStep, 5);
  CHECK(status.code() == PURLIN_TIMEOUT);
  CHECK_MESSAGE(status.message().starts_with(
                    "communicator main: rank 0 waited for rank 1 beyond the time limit, in all_gather of "
                    "100 f32, epoch 7, step 2, to finish reading the buffer of rank 0; "),
                status.message());
}
