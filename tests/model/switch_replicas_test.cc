// The switch: a load through the view reads every replica and a store through it writes every one, so
// whoever writes or gives up a replica has heard from all that use it.
#include <doctest/doctest.h>

#include "explore.h"

namespace purlin::model {
namespace {

enum class Rule {
  kAll,
  kNoOwnFlag,    // reduce does not wait for own stage
  kNoOwnGather,  // all-reduce: a slot is staged again before own gather has emptied it
  kNoLastAcks    // reduce-scatter: a call ends without the acks of its last round
};

// Two ranks, each with its roles as tasks of their own; one slot for each rank's region, used in
// kRounds rounds. A replica holds the number of the round that staged it, or kSum + that once reduced.
struct Switched {
  static constexpr int kRanks = 2, kRounds = 3;
  static constexpr int64_t kSum = 100;
  Switched(bool two_steps, Rule without) : two_steps(two_steps), without(without) {}

  const bool two_steps;  // an all-reduce, else a reduce-scatter
  const Rule without;
  Memory<> replica, flags, reduced, acks, roles_left, unbound;
  int wrong = 0;

  void start(Schedule& schedule) {
    for (int r = 0; r < kRanks; ++r) {
      roles_left(r) = two_steps ? 3 : 2;
      schedule.add(stage(r));
      schedule.add(reduce(r));
      if (two_steps) schedule.add(gather(r));
    }
  }

  // The last role to end gives the rank's replica up.
  void leave(int me) {
    if (--roles_left(me) == 0) unbound(me) = 1;
  }

  Task stage(int me) {
    for (int64_t round = 1; round <= kRounds; ++round) {
      for (int region = 0; region < kRanks; ++region) {
        if (!two_steps || without != Rule::kNoOwnGather)
          co_await until([=, this] { return acks(me, region) >= round - 1; });
        co_await step();
        replica(me, region) = round;
        co_await step();
        flags(region, me) = round;
        co_await step();
      }
    }
    for (int region = 0; region < kRanks && !two_steps && without != Rule::kNoLastAcks; ++region)
      co_await until([=, this] { return acks(me, region) >= kRounds; });
    leave(me);
  }

  Task reduce(int me) {
    for (int64_t round = 1; round <= kRounds; ++round) {
      for (int source = 0; source < kRanks; ++source)
        if (source != me || without != Rule::kNoOwnFlag)
          co_await until([=, this] { return flags(me, source) >= round; });
      for (int r = 0; r < kRanks; ++r) {  // one load through the view; replicas in any order
        co_await step();
        wrong += replica(r, me) != round || unbound(r) != 0;
      }
      for (int r = 0; r < kRanks; ++r) {
        co_await step();
        if (two_steps) replica(r, me) = kSum + round;
        else acks(r, me) = round;
        wrong += unbound(r) != 0 && two_steps;
      }
      for (int r = 0; r < kRanks && two_steps; ++r) {
        co_await step();
        reduced(r, me) = round;
      }
    }
    leave(me);
  }

  Task gather(int me) {
    for (int64_t round = 1; round <= kRounds; ++round) {
      for (int region = 0; region < kRanks; ++region) {
        co_await until([=, this] { return reduced(me, region) >= round; });
        co_await step();
        wrong += replica(me, region) != kSum + round;
        co_await step();
        acks(me, region) = round;
      }
    }
    leave(me);
  }
};

TEST_CASE("switched calls under any schedule read what was staged, and never a replica given up") {
  CHECK(explore<Switched>(true, Rule::kAll).all_right());
  CHECK(explore<Switched>(false, Rule::kAll).all_right());
}

TEST_CASE("a reduction that does not wait for own stage loads a stale replica") {
  CHECK(explore<Switched>(true, Rule::kNoOwnFlag).wrong > 0);
  CHECK(explore<Switched>(false, Rule::kNoOwnFlag).wrong > 0);
}

TEST_CASE("a slot staged again before own gather took it loses the sum") {
  CHECK(explore<Switched>(true, Rule::kNoOwnGather).wrong > 0);
}

TEST_CASE("a reduce-scatter that ends without the last acks gives up a replica in use") {
  CHECK(explore<Switched>(false, Rule::kNoLastAcks).wrong > 0);
}

}  // namespace
}  // namespace purlin::model
