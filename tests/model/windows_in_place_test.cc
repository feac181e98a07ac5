// Windows and in-place forms: what overwrites a region that a peer reads in place.
#include <doctest/doctest.h>

#include "explore.h"

namespace purlin::model {
namespace {

// An all-reduce in place, its buffers offered: rank r reads region r of every rank, makes its own
// region of it, and every rank copies that over its own region r. Each rank has a task for each
// role.
struct SumInPlace {
  static constexpr int kRanks = 3;
  SumInPlace(bool flags, bool exits) : flags(flags), exits(exits) {}

  const bool flags, exits;
  Memory<int> value;       // [rank][region]
  Memory<int> made, gone;  // [told][teller]
  int wrong = 0;

  static constexpr int kSum = 1 + 2 + 3;
  int& at(int rank, int region) { return value(rank, region); }

  void start(Schedule& schedule) {
    for (int r = 0; r < kRanks; ++r)
      for (int region = 0; region < kRanks; ++region) at(r, region) = r + 1;
    for (int r = 0; r < kRanks; ++r) {
      schedule.add(reduce(r));
      schedule.add(gather(r));
    }
  }
  Task reduce(int me) {
    int sum = 0;
    for (int d = 0; d < kRanks; ++d) {
      const int peer = (me + d) % kRanks;
      wrong += at(peer, me) != peer + 1;
      sum += at(peer, me);
      co_await step();
    }
    at(me, me) = sum;
    co_await step();
    for (int d = 0; d < kRanks; ++d) {
      made((me + d) % kRanks, me) = 1;
      co_await step();
    }
  }
  Task gather(int me) {
    for (int d = 1; d < kRanks; ++d) {
      const int peer = (me + d) % kRanks;
      co_await until([=, this] { return !flags || made(me, peer) != 0; });
      co_await step();
      const int got = at(peer, peer);
      co_await step();
      at(me, peer) = got;
      wrong += got != kSum;
      co_await step();
      gone(peer, me) = 1;
      co_await step();
    }
    for (int d = 1; d < kRanks && exits; ++d)
      co_await until([=, this] { return gone(me, (me + d) % kRanks) != 0; });
    for (int region = 0; region < kRanks && exits; ++region) wrong += at(me, region) != kSum;
    co_await until([=, this] { return made(me, me) != 0; });
    // Own roles have ended, so the buffer is the application's again, which writes it.
    at(me, me) = -1;
    co_await step();
  }
};

// An all-to-all in place: rank me takes region me of each peer and puts it where the peer takes
// from.
struct ExchangeInPlace {
  static constexpr int kRanks = 2;
  explicit ExchangeInPlace(bool staged) : staged(staged) {}

  const bool staged;
  Memory<int> value, slot, flag;
  int wrong = 0;

  void start(Schedule& schedule) {
    for (int r = 0; r < kRanks; ++r) value(r) = r + 1;
    for (int r = 0; r < kRanks; ++r) schedule.add(rank(r));
  }
  Task rank(int me) {
    const int peer = 1 - me;
    slot(me) = value(me);
    co_await step();
    flag(peer) = 1;
    co_await step();
    co_await until([=, this] { return flag(me) != 0; });
    co_await step();
    const int got = staged ? slot(peer) : value(peer);
    co_await step();
    value(me) = got;
    wrong += got != peer + 1;
    co_await step();
  }
};

TEST_CASE(
    "an all-reduce in place on windows is right with the flags of its second step and exits") {
  CHECK(explore<SumInPlace>(true, true).all_right());
}

TEST_CASE("without the flags a region is overwritten, or taken, before it is made") {
  CHECK(explore<SumInPlace>(false, true).wrong > 0);
}

TEST_CASE("without exits a made region is the application's again before peers have it") {
  CHECK(explore<SumInPlace>(true, false).wrong > 0);
}

TEST_CASE("an all-to-all in place needs slots: an entry alone does not keep what peers read") {
  CHECK(explore<ExchangeInPlace>(true).all_right());
  CHECK(explore<ExchangeInPlace>(false).wrong > 0);
}

}  // namespace
}  // namespace purlin::model
