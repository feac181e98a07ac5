// Launches of different communicators on one device are chained in call order: what is resident on
// one device then always finds its peer on the others.
#include <doctest/doctest.h>

#include <array>

#include "explore.h"

namespace purlin::model {
namespace {

// Two devices, two communicators over both, one launch each, in the same order everywhere. A launch
// is a grid that needs half of the device and one more CTA: both together do not fit.
struct Launches {
  static constexpr int kDevices = 2, kComms = 2, kCtas = 3, kPlaces = 4;
  explicit Launches(bool chained) : chained(chained) {}

  const bool chained;
  std::array<int, kDevices> occupied{};
  Memory<> left;     // CTAs of (device, comm) that have finished
  Memory<> arrived;  // (device, comm, cta)
  int wrong = 0;

  void start(Schedule& schedule) {
    for (int device = 0; device < kDevices; ++device) {
      for (int comm = 0; comm < kComms; ++comm) {
        for (int b = 0; b < kCtas; ++b) schedule.add(cta(device, comm, b));
      }
    }
  }
  // Without a chain the device starts CTAs of either stream as places become free.
  Task cta(int device, int comm, int b) {
    co_await until([=, this] {
      return occupied[static_cast<size_t>(device)] < kPlaces &&
             (!chained || comm == 0 || left(device, comm - 1) == kCtas);
    });
    ++occupied[static_cast<size_t>(device)];
    arrived(device, comm, b) = 1;
    co_await step();
    for (int peer = 0; peer < kCtas; ++peer) {  // a grid is done when all of the other side came
      co_await until([=, this] { return arrived(1 - device, comm, peer) == 1; });
    }
    --occupied[static_cast<size_t>(device)];
    ++left(device, comm);
  }
};

TEST_CASE("grids of two communicators that follow one another on each device finish") {
  CHECK(explore<Launches>(true).all_right());
}

TEST_CASE("grids of two communicators that mix on a device they do not fit on dead-lock") {
  CHECK(explore<Launches>(false).deadlocked > 0);
}

}  // namespace
}  // namespace purlin::model
