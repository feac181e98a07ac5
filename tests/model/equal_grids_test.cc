// Progress with fewer resident CTAs than the grid has: grids are equal on all ranks, a CTA waits
// for lower roles or for its own index, and in two-shot it owns the same slice in both shots.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <numeric>
#include <vector>

#include "explore.h"

namespace purlin::model {
namespace {

// CTAs of each rank start in the order given, as many at a time as are resident there.
struct Device {
  std::deque<int> waiting;
};

// ---- Two ranks exchange blocks of packets; CTA b walks blocks b, b + ctas, ...

struct Exchange {
  static constexpr int kBlocks = 12;
  Exchange(std::array<int, 2> ctas, std::array<int, 2> resident) : ctas(ctas), resident(resident) {}

  const std::array<int, 2> ctas, resident;
  std::array<Device, 2> devices;
  Memory<> sent;
  int wrong = 0;

  void start(Schedule& schedule) {
    for (size_t rank = 0; rank < 2; ++rank) {
      for (int b = 0; b < ctas[rank]; ++b) devices[rank].waiting.push_back(b);
      for (int i = 0; i < resident[rank]; ++i) schedule.add(multiprocessor(rank));
    }
  }
  Task multiprocessor(size_t me) {
    while (!devices[me].waiting.empty()) {
      const int b = devices[me].waiting.front();
      devices[me].waiting.pop_front();
      for (int block = b; block < kBlocks; block += ctas[me]) {
        sent(me, block) = 1;
        co_await step();
        co_await until([=, this] { return sent(1 - me, block) == 1; });
      }
    }
  }
};

using Pair = std::array<int, 2>;

TEST_CASE("equal grids finish however few of their CTAs are resident") {
  for (Pair resident : {Pair{4, 4}, Pair{1, 1}, Pair{1, 3}, Pair{2, 4}}) {
    CHECK(explore<Exchange>(Pair{4, 4}, resident).all_right());
  }
}

TEST_CASE("unequal grids finish when all of them are resident, and dead-lock otherwise") {
  CHECK(explore<Exchange>(Pair{2, 4}, Pair{2, 4}).all_right());
  const Tally tally = explore<Exchange>(Pair{2, 4}, Pair{2, 1});
  CHECK(tally.deadlocked == tally.schedules);
}

// ---- One rank's roles, dispatched in a given order with one CTA resident: role r waits for role r
// - 1.

struct Roles {
  explicit Roles(std::vector<int> dispatch_order) : order(std::move(dispatch_order)) {}

  const std::vector<int> order;  // role of each CTA
  Memory<> done;
  int wrong = 0;

  void start(Schedule& schedule) { schedule.add(multiprocessor()); }
  Task multiprocessor() {
    for (int role : order) {
      co_await until([=, this] { return role == 0 || done(role - 1) == 1; });
      done(role) = 1;
      co_await step();
    }
  }
};

TEST_CASE("CTAs that wait for lower roles alone need no more than dispatch in order") {
  CHECK(explore<Roles>(std::vector{0, 1, 2}).all_right());
}

TEST_CASE("a CTA that waits for a role dispatched later dead-locks") {
  const Tally tally = explore<Roles>(std::vector{0, 2, 1});
  CHECK(tally.deadlocked == tally.schedules);
}

// ---- Two-shot: CTA b reduces slice b of its rank's share, then gathers one slice of each share.

struct TwoShot {
  static constexpr int kRanks = 3, kCtas = 3;
  explicit TwoShot(bool same) : same_slice(same) {}

  const bool same_slice;
  std::array<Device, kRanks> devices;
  Memory<> first, second;
  int wrong = 0;

  void start(Schedule& schedule) {
    for (size_t r = 0; r < kRanks; ++r) {
      for (int b = 0; b < kCtas; ++b) devices[r].waiting.push_back(b);
      schedule.add(multiprocessor(static_cast<int>(r)));  // one resident CTA
    }
  }
  Task multiprocessor(int me) {
    std::deque<int>& waiting = devices[static_cast<size_t>(me)].waiting;
    while (!waiting.empty()) {
      const int b = waiting.front();
      waiting.pop_front();
      for (int d = 1; d < kRanks; ++d) {
        first((me + d) % kRanks, me, b) = 1;
        co_await step();
      }
      for (int d = 1; d < kRanks; ++d) {
        co_await until([=, this] { return first(me, (me + d) % kRanks, b) == 1; });
      }
      for (int d = 1; d < kRanks; ++d) {
        second((me + d) % kRanks, me, b) = 1;
        co_await step();
      }
      const int slice = same_slice ? b : kCtas - 1 - b;
      for (int d = 1; d < kRanks; ++d) {
        co_await until([=, this] { return second(me, (me + d) % kRanks, slice) == 1; });
      }
    }
  }
};

TEST_CASE("two-shot finishes with one resident CTA when both shots own the same slice") {
  CHECK(explore<TwoShot>(true).all_right());
}

TEST_CASE("two-shot with other slices in its second shot dead-locks") {
  CHECK(explore<TwoShot>(false).deadlocked > 0);
}

}  // namespace
}  // namespace purlin::model
