// The epoch may be kept as a word for each CTA if a CTA, on leaving, advances every word of its
// residue.
#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "explore.h"
#include "snac/epoch.h"

namespace purlin::model {
namespace {

struct Grid {
  int threads, ctas;
};

// Two ranks push packets to each other. Element i is sent and received by CTA (i / threads) mod
// ctas; a call may have another grid than the one before.
struct Packets {
  static constexpr int kMaxCtas = 8, kElements = 512;
  static constexpr std::array<int, 3> kTried{0, 300, 511};
  Packets(std::vector<Grid> calls, bool advance_all)
      : calls(std::move(calls)), advance_all(advance_all) {}

  struct Packet {
    uint64_t epoch = 0;
    int call = -1;
  };
  const std::vector<Grid> calls;
  const bool advance_all;
  Memory<Packet> packets;
  Memory<uint64_t> epochs;
  Memory<int> finished;  // CTAs of (rank, call) that have left
  int wrong = 0;

  void start(Schedule& schedule) {
    for (int rank = 0; rank < 2; ++rank) {
      for (int call = 0; call < static_cast<int>(calls.size()); ++call) {
        for (int b = 0; b < calls[static_cast<size_t>(call)].ctas; ++b) {
          schedule.add(cta(rank, call, b));
        }
      }
    }
  }
  Task cta(int me, int call, int b) {
    const Grid grid = calls[static_cast<size_t>(call)];
    // Launches of one stream follow one another.
    co_await until([=, this] {
      return call == 0 || finished(me, call - 1) == calls[static_cast<size_t>(call) - 1].ctas;
    });
    const uint64_t epoch = epochs(me, b) + 1;
    const auto half = snac::half_of(epoch);
    for (int i : kTried) {
      if (i / grid.threads % grid.ctas != b) continue;
      packets(1 - me, half, i) = {epoch, call};
      co_await step();
    }
    for (int i : kTried) {
      if (i / grid.threads % grid.ctas != b) continue;
      co_await until([=, this] { return packets(me, half, i).epoch == epoch; });
      wrong += packets(me, half, i).call != call;
      co_await step();
    }
    for (int w = b; w < (advance_all ? kMaxCtas : b + 1); w += grid.ctas) epochs(me, w) = epoch;
    ++finished(me, call);
  }
};

const std::vector<Grid> kChanging{{512, 1}, {256, 2}, {64, 8}, {512, 1}, {128, 4}};

TEST_CASE("epoch words that all advance survive changes of the grid") {
  CHECK(explore<Packets>(kChanging, true).all_right());
}

TEST_CASE("a fixed grid may advance its own words alone") {
  CHECK(explore<Packets>(std::vector<Grid>(4, Grid{128, 4}), false).all_right());
}

TEST_CASE("after a change of the grid words left behind match stale packets") {
  const Tally tally = explore<Packets>(kChanging, false);
  CHECK(tally.wrong > 0);
}

}  // namespace
}  // namespace purlin::model
