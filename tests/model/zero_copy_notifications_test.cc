// Zero-copy: peers read a rank's own buffer, so each call tells them when it holds its input, and
// hears from them when they have read it.
#include <doctest/doctest.h>

#include "explore.h"

namespace purlin::model {
namespace {

struct ZeroCopy {
  static constexpr int kRanks = 3, kCalls = 4;
  ZeroCopy(bool entry, bool exit) : entry(entry), exit(exit) {}

  const bool entry, exit;
  Memory<> buffer, ready, read;
  int wrong = 0;

  void start(Schedule& schedule) {
    for (int r = 0; r < kRanks; ++r) schedule.add(rank(r));
  }
  Task rank(int me) {
    for (int call = 1; call <= kCalls; ++call) {
      buffer(me) =
          call;  // the application writes its input, which it may do once a call has returned
      co_await step();
      for (int d = 1; d < kRanks; ++d) {
        ready((me + d) % kRanks, me) = call;
        co_await step();
      }
      for (int d = 1; d < kRanks; ++d) {
        const int peer = (me + d) % kRanks;
        co_await until([=, this] { return !entry || ready(me, peer) >= call; });
        co_await step();
        wrong += buffer(peer) != call;
        read(peer, me) = call;
        co_await step();
      }
      for (int d = 1; d < kRanks && exit; ++d) {
        co_await until([=, this] { return read(me, (me + d) % kRanks) >= call; });
      }
    }
  }
};

TEST_CASE("zero-copy is right with a notification at entry and one at exit") {
  CHECK(explore<ZeroCopy>(true, true).all_right());
}

TEST_CASE("without the one at entry a peer reads before the input is there") {
  CHECK(explore<ZeroCopy>(false, true).wrong > 0);
}

TEST_CASE("without the one at exit the application overwrites what a peer still reads") {
  CHECK(explore<ZeroCopy>(true, false).wrong > 0);
}

}  // namespace
}  // namespace purlin::model
