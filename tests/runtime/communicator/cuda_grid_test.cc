// The shape of a launch of packets.
#include "communicator/cuda_grid.h"

#include <doctest/doctest.h>

using namespace purlin;

namespace {

// Of a call between two ranks whose longest pair has so many bytes.
LatencyGrid grid_of(uint64_t bytes, unsigned most_ctas, unsigned budget = 0,
                    unsigned most_threads = 512) {
  policy::Choice choice;
  choice.cta_budget.value = budget;
  Launch call;
  call.choice = &choice;
  call.transformation.step_count = 1;
  call.params.nranks = 2;
  call.params.pair_limit = 1 << 20;
  call.params.send[0][1].bytes = bytes;
  CtaLimits limits;
  limits.latency = most_ctas;
  return latency_grid(call, most_threads, limits);
}

}  // namespace

TEST_CASE("every packet has a thread, and the headers a warp, while CTAs last") {
  for (unsigned most : {1u, 2u, 7u, 32u}) {
    for (uint64_t bytes : {uint64_t{1}, uint64_t{8}, uint64_t{1000}, uint64_t{1024}, uint64_t{4096},
                           uint64_t{32768}, uint64_t{65536}, uint64_t{100'000}}) {
      CAPTURE(most);
      CAPTURE(bytes);
      const LatencyGrid grid = grid_of(bytes, most);
      const uint64_t packets = (bytes + 7) / 8, threads = uint64_t{grid.ctas} * grid.threads;
      CHECK(grid.ctas >= 1);
      CHECK(grid.ctas <= most);
      CHECK(grid.threads % 32 == 0);
      CHECK(grid.threads <= 512);
      // In one pass wherever that is possible.
      CHECK((threads >= packets || (grid.ctas == most && grid.threads == 512)));
      CHECK((threads >= packets + 32 || grid.ctas == most));
    }
  }
}

TEST_CASE("short calls take small CTAs, long ones as large as the program allows") {
  CHECK(grid_of(1024, 32).threads == 128);
  CHECK(grid_of(1024, 32).ctas == 2);  // the second for the headers
  CHECK(grid_of(32768, 32).threads == 128);
  CHECK(grid_of(32776, 32).threads == 256);
  CHECK(grid_of(1 << 20, 32).threads == 512);
  CHECK(grid_of(1 << 20, 32).ctas == 32);
  CHECK(grid_of(1 << 20, 32, 0, 256).threads == 256);
  CHECK(grid_of(1 << 20, 32, 0, 64).threads == 64);
}

TEST_CASE("a call's own budget of CTAs bounds its grid") {
  CHECK(grid_of(32768, 32, 4).ctas == 4);
  CHECK(grid_of(32768, 32, 4).threads == 512);
}
