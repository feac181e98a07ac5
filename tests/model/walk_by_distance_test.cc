// Pairs are walked by distance, rounds outermost: send to r + d, receive from r - d.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "explore.h"

namespace purlin::model {
namespace {

enum class Order {
  kByDistance,      // rounds outermost, then distance
  kPeersOutermost,  // all rounds of one peer, then the next, by distance
  kAny              // all rounds of one peer, then the next, in an order of each rank's own
};

// All-to-all of messages longer than the slots of a pair: one sending and one receiving CTA a rank.
struct Exchange {
  static constexpr int kRanks = 4, kRounds = 6, kSlots = 2;
  explicit Exchange(Order order) : order(order) {}

  const Order order;
  Memory<> sent, taken;
  Memory<> slots;
  int wrong = 0;

  // (peer, round) in the order in which `me` serves them; sign: +1 to send, -1 to receive.
  std::vector<std::pair<int, int>> walk(int me, int sign, std::mt19937_64& random) const {
    std::vector<int> peers;
    for (int d = 1; d < kRanks; ++d) peers.push_back((me + sign * d + kRanks) % kRanks);
    if (order == Order::kAny) std::shuffle(peers.begin(), peers.end(), random);
    std::vector<std::pair<int, int>> pairs;
    if (order == Order::kByDistance) {
      for (int round = 0; round < kRounds; ++round) {
        for (int peer : peers) pairs.emplace_back(peer, round);
      }
    } else {
      for (int peer : peers) {
        for (int round = 0; round < kRounds; ++round) pairs.emplace_back(peer, round);
      }
    }
    return pairs;
  }

  void start(Schedule& schedule) {
    std::mt19937_64 random(schedule.draw());
    for (int r = 0; r < kRanks; ++r) {
      schedule.add(sender(r, walk(r, +1, random)));
      schedule.add(receiver(r, walk(r, -1, random)));
    }
  }
  Task sender(int me, std::vector<std::pair<int, int>> pairs) {
    for (const auto& [to, round] : pairs) {
      const int peer = to, r = round;
      co_await until([=, this] { return r - taken(me, peer) < kSlots; });
      slots(me, peer, r % kSlots) = r;
      co_await step();
      sent(me, peer) = r + 1;
      co_await step();
    }
  }
  Task receiver(int me, std::vector<std::pair<int, int>> pairs) {
    for (const auto& [from, round] : pairs) {
      const int peer = from, r = round;
      co_await until([=, this] { return sent(peer, me) > r; });
      co_await step();
      wrong += slots(peer, me, r % kSlots) != r;
      taken(peer, me) = r + 1;
      co_await step();
    }
  }
};

TEST_CASE("pairs walked by distance with rounds outermost always finish") {
  CHECK(explore<Exchange>(Order::kByDistance).all_right());
}

TEST_CASE("the same distance at both ends finishes also peer after peer") {
  CHECK(explore<Exchange>(Order::kPeersOutermost).all_right());
}

TEST_CASE("pairs walked in any order dead-lock beyond the slots") {
  CHECK(explore<Exchange>(Order::kAny).deadlocked > 0);
}

}  // namespace
}  // namespace purlin::model
