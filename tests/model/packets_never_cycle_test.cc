// Packets never cycle: each packet of a call has a slot of its own in its half, so that nobody has
// to say that a slot may be used again.
#include <doctest/doctest.h>

#include "explore.h"
#include "snac/epoch.h"

namespace purlin::model {
namespace {

// Two ranks push `packets` packets to each other, call after call, into halves of `slots` slots.
struct Push {
  static constexpr int kCalls = 4;
  Push(int packets, int slots) : packets(packets), slots(slots) {}

  struct Packet {
    uint64_t tag = 0;
    int index = -1;
  };
  const int packets, slots;
  Memory<Packet> memory;
  int wrong = 0;

  void start(Schedule& schedule) {
    schedule.add(rank(0));
    schedule.add(rank(1));
  }
  Task rank(int me) {
    for (uint64_t epoch = 1; epoch <= kCalls; ++epoch) {
      const auto half = snac::half_of(epoch);
      const uint64_t tag = snac::packet_tag(epoch, 0x1234);
      for (int i = 0; i < packets; ++i) {
        memory(1 - me, half, i % slots) = {tag, i};
        co_await step();
      }
      for (int i = 0; i < packets; ++i) {
        co_await until([=, this] { return memory(me, half, i % slots).tag == tag; });
        wrong += memory(me, half, i % slots).index != i;
        co_await step();
      }
    }
  }
};

TEST_CASE("packets that all have a slot of their own arrive") {
  CHECK(explore<Push>(6, 6).all_right());
  CHECK(explore<Push>(5, 6).all_right());
}

TEST_CASE("packets beyond the slots overwrite what was not read") {
  CHECK(explore<Push>(7, 6).wrong > 0);
}

// ---- Two shots: the second one needs slots of its own.

struct TwoShots {
  explicit TwoShots(bool own_region) : own_region(own_region) {}

  static constexpr int kRanks = 3;
  const bool own_region;
  Memory<> tags, values;
  int wrong = 0;

  void start(Schedule& schedule) {
    for (int r = 0; r < kRanks; ++r) schedule.add(rank(r));
  }
  Task rank(int me) {
    for (int shot = 0; shot < 2; ++shot) {
      const int region = own_region ? shot : 0;
      for (int d = 1; d < kRanks; ++d) {
        const int peer = (me + d) % kRanks;
        values(peer, region, me) = shot;
        tags(peer, region, me) = 1;  // both shots belong to one epoch
        co_await step();
      }
      for (int d = 1; d < kRanks; ++d) {
        const int peer = (me + d) % kRanks;
        co_await until([=, this] { return tags(me, region, peer) == 1; });
        wrong += values(me, region, peer) != shot;
        co_await step();
      }
    }
  }
};

TEST_CASE("a second shot with a region of its own is told from the first") {
  CHECK(explore<TwoShots>(true).all_right());
}

TEST_CASE("a second shot in the slots of the first is mistaken for it") {
  CHECK(explore<TwoShots>(false).wrong > 0);
}

}  // namespace
}  // namespace purlin::model
