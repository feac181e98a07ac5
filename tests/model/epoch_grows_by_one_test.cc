// The epoch grows by one for every collective on every rank, whatever the sizes.
#include <doctest/doctest.h>

#include "explore.h"
#include "snac/epoch.h"

namespace purlin::model {
namespace {

// Exchanges in which each rank sends another number of chunks, as in AllToAllV, where no rank knows
// the others' counts. Rank r stages for all peers in the half of its epoch and announces the epoch.
struct Exchanges {
  static constexpr int kRanks = 3, kCalls = 5;
  enum class Growth { kOne, kOwnChunks };

  explicit Exchanges(Growth growth) : growth(growth) {}

  const Growth growth;
  Memory<> staged, flags;
  int wrong = 0;

  void start(Schedule& schedule) {
    for (int r = 0; r < kRanks; ++r) schedule.add(rank(r));
  }

  static int chunks(int rank, int call) { return 1 + (rank * 2 + call) % 4; }

  Task rank(int me) {
    uint64_t epoch = 0;
    for (int call = 0; call < kCalls; ++call) {
      // The other way: enough values for every chunk of the call, kept odd to change the half.
      epoch += growth == Growth::kOne ? 1 : static_cast<uint64_t>(chunks(me, call) | 1);
      const auto half = snac::half_of(epoch);
      const auto value = static_cast<int64_t>(epoch);
      staged(me, half) = call;
      co_await step();
      for (int d = 1; d < kRanks; ++d) {
        flags((me + d) % kRanks, half, me) = value;
        co_await step();
      }
      for (int d = 1; d < kRanks; ++d) {
        const int peer = (me + d) % kRanks;
        co_await until([=, this] { return flags(me, half, peer) >= value; });
        co_await step();
        wrong += staged(peer, half) != call;
        co_await step();
      }
    }
  }
};

TEST_CASE("epochs that grow by one keep ranks together when their sizes differ") {
  CHECK(explore<Exchanges>(Exchanges::Growth::kOne).all_right());
}

TEST_CASE("epochs that grow by each rank's own chunks drift apart") {
  const Tally drift = explore<Exchanges>(Exchanges::Growth::kOwnChunks);
  CHECK(drift.wrong + drift.deadlocked > 0);
}

}  // namespace
}  // namespace purlin::model
