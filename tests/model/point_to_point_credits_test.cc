// Send and receive leave ranks out, so each ordered pair has slots, flags and acknowledgments of
// its own, and the epoch of the collectives stays as it is.
#include <doctest/doctest.h>

#include "explore.h"
#include "snac/epoch.h"

namespace purlin::model {
namespace {

// ---- Credits: messages from rank 0 to rank 1, more chunks than slots.

struct Pair {
  static constexpr int kChunks = 10, kSlots = 2;
  explicit Pair(bool credits) : credits(credits) {}

  const bool credits;
  Memory<> slots;
  int64_t sent = 0, acknowledged = 0;
  int wrong = 0;

  void start(Schedule& schedule) {
    schedule.add(sender());
    schedule.add(receiver());
  }
  Task sender() {
    for (int c = 0; c < kChunks; ++c) {
      co_await until([=, this] { return !credits || c - acknowledged < kSlots; });
      slots(c % kSlots) = c;
      co_await step();
      sent = c + 1;
      co_await step();
    }
  }
  Task receiver() {
    for (int c = 0; c < kChunks; ++c) {
      co_await until([=, this] { return sent > c; });
      co_await step();
      wrong += slots(c % kSlots) != c;
      co_await step();
      acknowledged = c + 1;
      co_await step();
    }
  }
};

TEST_CASE("a sender that stays within its slots overwrites nothing unread") {
  CHECK(explore<Pair>(true).all_right());
}

TEST_CASE("a sender without credits overwrites what was not read") {
  CHECK(explore<Pair>(false).wrong > 0);
}

// ---- The epoch: three ranks gather, ranks 0 and 1 exchange a message, all gather again.

struct Interlude {
  static constexpr int kRanks = 3;
  explicit Interlude(bool counts) : message_grows_epoch(counts) {}

  const bool message_grows_epoch;
  Memory<> staged, flags;
  int64_t message = 0;
  int wrong = 0;

  void start(Schedule& schedule) {
    for (int r = 0; r < kRanks; ++r) schedule.add(rank(r));
  }
  Task rank(int me) {
    uint64_t epoch = 0;
    for (int call = 0; call < 4; ++call) {
      ++epoch;
      const auto half = snac::half_of(epoch);
      const auto value = static_cast<int64_t>(snac::flag_value(epoch, 0));
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
      }
      if (call != 1 || me == 2) continue;  // after the second gather, 0 sends to 1; 2 takes no part
      if (message_grows_epoch) ++epoch;
      if (me == 0) message = 1;
      if (me == 1) co_await until([this] { return message == 1; });
      co_await step();
    }
  }
};

TEST_CASE("a message between two ranks leaves the epoch of all alone") {
  CHECK(explore<Interlude>(false).all_right());
}

TEST_CASE("a message that counts as a collective for its two ranks parts them from the third") {
  const Tally tally = explore<Interlude>(true);
  CHECK(tally.wrong + tally.deadlocked > 0);
}

}  // namespace
}  // namespace purlin::model
