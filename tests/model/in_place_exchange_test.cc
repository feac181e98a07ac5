// In-place AllToAll: a region is overwritten only after this rank's own stage CTA has read it.
#include <doctest/doctest.h>

#include "explore.h"

namespace purlin::model {
namespace {

struct InPlace {
  static constexpr int kRanks = 3, kChunks = 2;
  InPlace(bool in_place, bool waits_for_own_stage)
      : in_place(in_place), waits_for_own_stage(waits_for_own_stage) {}

  const bool in_place, waits_for_own_stage;
  Memory<> input, output, staged, announced, own_staged;
  int wrong = 0;

  // What rank `from` sends to rank `to` in one chunk.
  static int64_t value(int from, int to, int chunk) { return 1 + from * 100 + to * 10 + chunk; }

  void start(Schedule& schedule) {
    for (int r = 0; r < kRanks; ++r) {
      for (int p = 0; p < kRanks; ++p) {
        for (int c = 0; c < kChunks; ++c) input(r, p, c) = value(r, p, c);
      }
      schedule.add(stage(r));
      schedule.add(gather(r));
    }
  }
  Task stage(int me) {
    for (int c = 0; c < kChunks; ++c) {
      for (int d = 1; d < kRanks; ++d) {
        const int peer = (me + d) % kRanks;
        staged(me, peer, c) = input(me, peer, c);
        co_await step();
        own_staged(me, peer, c) = 1;
        announced(me, peer, c) = 1;
        co_await step();
      }
    }
  }
  Task gather(int me) {
    Memory<>& result = in_place ? input : output;
    for (int c = 0; c < kChunks; ++c) {
      for (int d = 1; d < kRanks; ++d) {
        const int peer = (me + d) % kRanks;
        co_await until([=, this] {
          return announced(peer, me, c) == 1 &&
                 (!waits_for_own_stage || own_staged(me, peer, c) == 1);
        });
        const int64_t received = staged(peer, me, c);
        wrong += received != value(peer, me, c);
        co_await step();
        result(me, peer, c) = received;
        co_await step();
      }
    }
  }
};

TEST_CASE("in place, a gather that also waits for its own stage loses nothing") {
  CHECK(explore<InPlace>(true, true).all_right());
}

TEST_CASE("out of place it need not wait") { CHECK(explore<InPlace>(false, false).all_right()); }

TEST_CASE("in place, a gather that does not wait overwrites what was not yet sent") {
  CHECK(explore<InPlace>(true, false).wrong > 0);
}

}  // namespace
}  // namespace purlin::model
