// Flags and packet slots are zeroed on all ranks before anyone may signal, and packet memory never
// holds anything but packets.
#include <doctest/doctest.h>

#include "explore.h"

namespace purlin::model {
namespace {

struct Creation {
  static constexpr int kRanks = 3;
  explicit Creation(bool meet) : meet_after_zeroing(meet) {}

  const bool meet_after_zeroing;
  Memory<> flags;
  int zeroed = 0;
  int wrong = 0;

  void start(Schedule& schedule) {
    for (int r = 0; r < kRanks; ++r) schedule.add(rank(r));
  }
  Task rank(int me) {
    for (int peer = 0; peer < kRanks; ++peer) {
      flags(me, peer) = 0;
      co_await step();
    }
    ++zeroed;
    if (meet_after_zeroing) co_await until([this] { return zeroed == kRanks; });
    for (int d = 1; d < kRanks; ++d) {
      flags((me + d) % kRanks, me) = 1;
      co_await step();
    }
    for (int d = 1; d < kRanks; ++d) {
      co_await until([=, this] { return flags(me, (me + d) % kRanks) >= 1; });
    }
  }
};

TEST_CASE("a meeting between zeroing and the first signal loses none") {
  CHECK(explore<Creation>(true).all_right());
}

TEST_CASE("a rank that zeroes late erases a peer's first signal") {
  CHECK(explore<Creation>(false).deadlocked > 0);
}

// The same 16 bytes hold a chunk of data in one call and a packet in the next. Data may be
// anything, the tag that the next call waits for included.
struct Mixture {
  explicit Mixture(bool shared) : shared(shared) {}

  static constexpr int64_t kTag = 7, kPayload = 42;
  const bool shared;
  Memory<> memory;  // (place, word): payload 0, tag 1
  int64_t chunk_ready = 0;
  int wrong = 0;

  void start(Schedule& schedule) {
    schedule.add(sender());
    schedule.add(receiver());
  }
  Task sender() {
    const int chunk_place = shared ? 0 : 1;
    memory(chunk_place, 0) = 5;  // the user's data
    memory(chunk_place, 1) = kTag;
    co_await step();
    chunk_ready = 1;
    co_await step();
    memory(0, 0) = kPayload;
    memory(0, 1) = kTag;
    co_await step();
  }
  Task receiver() {
    co_await until([this] { return chunk_ready == 1; });
    co_await until([this] { return memory(0, 1) == kTag; });
    wrong += memory(0, 0) != kPayload;
  }
};

TEST_CASE("memory that holds nothing but packets is read when the packet is there") {
  CHECK(explore<Mixture>(false).all_right());
}

TEST_CASE("a user's data in packet memory can look like a packet") {
  CHECK(explore<Mixture>(true).wrong > 0);
}

}  // namespace
}  // namespace purlin::model
