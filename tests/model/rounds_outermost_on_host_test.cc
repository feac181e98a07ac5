// A host rank is one thread: rounds outermost, then roles, then CTAs in index order, each to its
// end.
#include <doctest/doctest.h>

#include "explore.h"

namespace purlin::model {
namespace {

enum class Nesting {
  kRoundsOutermost,  // a round of each role before the next round
  kRolesOutermost,   // all rounds of a role before the next role
  kHigherRoleFirst   // rounds outermost, but roles from the last to the first
};

// All-reduce of a message of several rounds: stage for all, reduce own share, gather all shares. A
// slot is used again when its consumers have acknowledged the round before.
struct AllReduce {
  static constexpr int kRanks = 3, kRounds = 4, kRoles = 3, kCtas = 2;
  explicit AllReduce(Nesting nesting) : nesting(nesting) {}

  const Nesting nesting;
  Memory<> staged, reduced;          // rounds announced, by (from, to, cta)
  Memory<> stage_acks, reduce_acks;  // rounds given back, by (from, to, cta)
  int wrong = 0;

  void start(Schedule& schedule) {
    for (int r = 0; r < kRanks; ++r) schedule.add(rank(r));
  }
  Task rank(int me) {
    const bool rounds_first = nesting != Nesting::kRolesOutermost;
    const int outer = rounds_first ? kRounds : kRoles;
    const int inner = rounds_first ? kRoles : kRounds;
    for (int o = 0; o < outer; ++o) {
      for (int i = 0; i < inner; ++i) {
        const int round = rounds_first ? o : i;
        int role = rounds_first ? i : o;
        if (nesting == Nesting::kHigherRoleFirst) role = kRoles - 1 - role;
        for (int cta = 0; cta < kCtas; ++cta) {
          for (int d = 1; d < kRanks; ++d) {
            const int peer = (me + d) % kRanks;
            if (role == 0) {
              co_await until([=, this] { return stage_acks(me, peer, cta) >= round; });
              staged(me, peer, cta) = round + 1;
            } else if (role == 1) {
              co_await until([=, this] { return staged(peer, me, cta) > round; });
              stage_acks(peer, me, cta) = round + 1;
              co_await until([=, this] { return reduce_acks(me, peer, cta) >= round; });
              reduced(me, peer, cta) = round + 1;
            } else {
              co_await until([=, this] { return reduced(peer, me, cta) > round; });
              reduce_acks(peer, me, cta) = round + 1;
            }
            co_await step();
          }
        }
      }
    }
  }
};

TEST_CASE("one thread that walks rounds, then roles, then CTAs finishes") {
  CHECK(explore<AllReduce>(Nesting::kRoundsOutermost).all_right());
}

TEST_CASE("one thread that stages all rounds before it reduces any dead-locks") {
  const Tally tally = explore<AllReduce>(Nesting::kRolesOutermost);
  CHECK(tally.deadlocked == tally.schedules);
}

TEST_CASE("one thread that begins with what waits for a lower role dead-locks") {
  const Tally tally = explore<AllReduce>(Nesting::kHigherRoleFirst);
  CHECK(tally.deadlocked == tally.schedules);
}

}  // namespace
}  // namespace purlin::model
