// Two staging halves are enough because every rank hears from every peer in every collective.
#include <doctest/doctest.h>

#include <vector>

#include "explore.h"
#include "snac/epoch.h"

namespace purlin::model {
namespace {

enum class Kind { kAllGather, kBroadcast };  // broadcast: from rank 0

struct Calls {
  static constexpr int kRanks = 3, kCalls = 6;
  Calls(std::vector<Kind> kinds, bool empty_notifications, int halves)
      : kinds(std::move(kinds)), empty_notifications(empty_notifications), halves(halves) {}

  const std::vector<Kind> kinds;  // taken in turn
  const bool empty_notifications;
  const int halves;
  Memory<> staged, flags;
  int wrong = 0;

  void start(Schedule& schedule) {
    for (int r = 0; r < kRanks; ++r) schedule.add(rank(r));
  }

  Task rank(int me) {
    for (int call = 0; call < kCalls; ++call) {
      const uint64_t epoch = static_cast<uint64_t>(call) + 1;
      const int half = halves == 2 ? static_cast<int>(snac::half_of(epoch)) : 0;
      const auto value = static_cast<int64_t>(snac::flag_value(epoch, 0));
      const Kind kind = kinds[static_cast<size_t>(call) % kinds.size()];
      const auto stages = [kind](int rank) { return kind == Kind::kAllGather || rank == 0; };
      if (stages(me)) {
        staged(me, half) = call;
        co_await step();
      }
      for (int d = 1; d < kRanks && (stages(me) || empty_notifications); ++d) {
        flags((me + d) % kRanks, half, me) = value;
        co_await step();
      }
      for (int d = 1; d < kRanks; ++d) {
        const int peer = (me + d) % kRanks;
        if (!stages(peer) && !empty_notifications) continue;
        co_await until([=, this] { return flags(me, half, peer) >= value; });
        if (!stages(peer)) continue;
        co_await step();
        wrong += staged(peer, half) != call;
      }
    }
  }
};

const std::vector<Kind> kMixed{Kind::kAllGather, Kind::kBroadcast};

TEST_CASE("with a notification from every peer two halves serve any mixture of collectives") {
  CHECK(explore<Calls>(std::vector{Kind::kAllGather}, true, 2).all_right());
  CHECK(explore<Calls>(std::vector{Kind::kBroadcast}, true, 2).all_right());
  CHECK(explore<Calls>(kMixed, true, 2).all_right());
}

TEST_CASE("a root that hears from nobody overwrites what slow peers still read") {
  CHECK(explore<Calls>(std::vector{Kind::kBroadcast}, false, 2).wrong > 0);
  CHECK(explore<Calls>(kMixed, false, 2).wrong > 0);
}

TEST_CASE("one half is not enough even so") {
  CHECK(explore<Calls>(std::vector{Kind::kAllGather}, true, 1).wrong > 0);
}

}  // namespace
}  // namespace purlin::model
