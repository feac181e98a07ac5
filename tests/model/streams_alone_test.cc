// Messages of one group: each pair and direction goes on by itself. Rank 0 sends to 1 and to 2 in
// one group, more than slots hold; rank 1 first waits for rank 2, and rank 2 for rank 0.
#include <doctest/doctest.h>

#include "explore.h"

namespace purlin::model {
namespace {

struct Group {
  static constexpr int kChunks = 5, kSlots = 2;
  explicit Group(bool alone) : streams_alone(alone) {}

  const bool streams_alone;
  Memory<> slots, here, taken;  // by source and destination
  int wrong = 0;

  void start(Schedule& schedule) {
    if (streams_alone) {
      schedule.add(send_all(0, 1, kChunks));
      schedule.add(send_all(0, 2, kChunks));
    } else {
      schedule.add(send_to_both());
    }
    schedule.add(rank_1());
    schedule.add(rank_2());
  }
  Task send_all(int from, int to, int chunks) {
    for (int c = 0; c < chunks; ++c) {
      co_await until([=, this] { return c - taken(from, to) < kSlots; });
      slots(from, to, c % kSlots) = c;
      co_await step();
      here(from, to) = c + 1;
      co_await step();
    }
  }
  // In the order of issue, one message after the other.
  Task send_to_both() {
    for (int to = 1; to <= 2; ++to)
      for (int c = 0; c < kChunks; ++c) {
        co_await until([=, this] { return c - taken(0, to) < kSlots; });
        slots(0, to, c % kSlots) = c;
        co_await step();
        here(0, to) = c + 1;
        co_await step();
      }
  }
  Task rank_1() {
    for (const int from : {2, 0})
      for (int c = 0; c < (from == 2 ? 1 : kChunks); ++c) {
        co_await until([=, this] { return here(from, 1) > c; });
        wrong += slots(from, 1, c % kSlots) != c;
        co_await step();
        taken(from, 1) = c + 1;
        co_await step();
      }
  }
  Task rank_2() {
    for (int c = 0; c < kChunks; ++c) {
      co_await until([=, this] { return here(0, 2) > c; });
      wrong += slots(0, 2, c % kSlots) != c;
      co_await step();
      taken(0, 2) = c + 1;
      co_await step();
    }
    slots(2, 1, 0) = 0;
    co_await step();
    here(2, 1) = 1;
  }
};

TEST_CASE("streams of one group that go on by themselves finish") {
  CHECK(explore<Group>(true).all_right());
}

TEST_CASE("messages of one group that wait for each other dead-lock beyond the slots") {
  CHECK(explore<Group>(false).deadlocked > 0);
}

}  // namespace
}  // namespace purlin::model
