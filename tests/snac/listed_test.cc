// Flows worked out from counts in the kernel, against those that the host works out before a
// launch.
#include "snac/listed.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "level.h"
#include "snac/flow.h"
#include "snac/plan.h"

using namespace purlin::snac;

namespace {

bool equal(const Extent& a, const Extent& b) { return a.offset == b.offset && a.bytes == b.bytes; }

ListedCall listed_of(Collective collective, const CallSizes& sizes, u32 n, u32 rank, u64 hash) {
  const Transformation t = transformation_of(collective);
  const Shapes shapes = shapes_of(collective, t, sizes, false, n, rank);
  ListedCall call;
  call.input_packed = t.steps[0].input.kind == LayoutKind::kPacked;
  call.output_packed = t.steps[0].output.kind == LayoutKind::kPacked;
  call.input = shapes.input;
  call.output = shapes.output;
  call.call_hash = hash;
  return call;
}

}  // namespace

TEST_CASE("a kernel that reads counts finds the flows of a host that knew them") {
  std::mt19937_64 random(purlin::test::seed() * 41 + 1);
  for (const Collective collective :
       {Collective::kAllGatherV, Collective::kReduceScatterV, Collective::kAllToAllV}) {
    for (int round = 0; round < (purlin::test::is_full() ? 2000 : 200); ++round) {
      const u32 n = 1 + static_cast<u32>(random() % 16), rank = static_cast<u32>(random() % n);
      std::vector<u64> send(n), receive(n), send_at(n), receive_at(n);
      for (std::vector<u64>* row : {&send, &receive, &send_at, &receive_at})
        for (u64& one : *row) one = random() % 3 == 0 ? 0 : random() % 100'000;
      CallSizes sizes;
      sizes.element_bytes = u64{1} << random() % 4;
      sizes.send_counts = send.data();
      sizes.recv_counts = receive.data();
      if (random() % 2 == 0) sizes.send_displs = send_at.data();
      if (random() % 2 == 0) sizes.recv_displs = receive_at.data();
      const u64 hash = random() % 4 == 0 ? 0 : random();

      const Transformation t = transformation_of(collective);
      CallParams expected;
      expected.nranks = n;
      expected.rank = rank;
      set_flows(t, shapes_of(collective, t, sizes, false, n, rank), 0, hash, &expected);
      const ListedCall call = listed_of(collective, sizes, n, rank, hash);
      for (u32 peer = 0; peer < n; ++peer) {
        CAPTURE(static_cast<int>(collective));
        CAPTURE(n);
        CAPTURE(peer);
        const ListedFlow flow = listed_flow(call, n, rank, peer);
        REQUIRE(equal(flow.send, expected.send[0][peer]));
        REQUIRE(equal(flow.receive, expected.receive[0][peer]));
        REQUIRE(flow.send_signature == expected.send_signature[peer]);
        REQUIRE(flow.receive_signature == expected.receive_signature[peer]);
      }
      // What every consumer reads of a packed input is what flows to the rank itself.
      if (shares_input(t.steps[0]))
        REQUIRE(equal(listed_flow(call, n, rank, rank).send, expected.own));
      purlin::test::count_cases(1);
    }
  }
}

TEST_CASE("counts and totals are held against their bounds in the rows that a collective has") {
  const u64 fits[] = {3, 0, 7}, part[] = {3, 8, 0}, total[] = {6, 6, 6};
  const u64 huge[] = {0, ~u64{0}, 0};
  struct Expectation {
    Collective collective;
    const u64 *send, *receive;
    CountExcess excess;
  };
  // Elements of 4 bytes; a part has 7 at most, all together 15.
  const Expectation cases[] = {
      {Collective::kAllGatherV, huge, fits, {}},
      {Collective::kAllGatherV, fits, part, {32, 28}},
      {Collective::kReduceScatterV, fits, huge, {}},
      {Collective::kReduceScatterV, total, fits, {72, 60}},
      {Collective::kAllToAllV, fits, fits, {}},
      {Collective::kAllToAllV, fits, total, {72, 60}},
      {Collective::kAllToAllV, huge, part, {u64{1} << 62, 28}},
  };
  for (const Expectation& one : cases) {
    CallSizes sizes;
    sizes.element_bytes = 4;
    sizes.send_counts = one.send;
    sizes.recv_counts = one.receive;
    ListedCall call = listed_of(one.collective, sizes, 3, 1, 1);
    call.bound_part = 7;
    call.bound_total = 15;
    const CountExcess found = listed_excess(call, 3);
    CAPTURE(static_cast<int>(one.collective));
    CHECK(found.found == one.excess.found);
    CHECK(found.bound == one.excess.bound);
    purlin::test::count_cases(1);
  }
}
