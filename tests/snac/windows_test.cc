// Calls whose sources offer their buffers in windows: each rank writes its input when its call
// begins, and spoils input and output as soon as its call is over.
#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "level.h"
#include "naive_atom.h"
#include "serial.h"
#include "snac/window.h"
#include "world.h"

using namespace purlin::snac;
using namespace purlin::test;

namespace {

constexpr Collective kAll[] = {Collective::kAllGather, Collective::kReduceScatter,
                               Collective::kAllReduce, Collective::kAllToAll,
                               Collective::kBroadcast, Collective::kReduce,
                               Collective::kScatter,   Collective::kGather};

// Where the input of an in-place call lies in the output; kApart where the rank has no such form.
u64 input_at(Collective collective, u32 rank, u32 root, u64 count) {
  switch (collective) {
    case Collective::kAllGather:
      return rank * count;
    case Collective::kGather:
      return rank == root ? rank * count : kApart;
    case Collective::kAllReduce:
    case Collective::kAllToAll:
      return 0;
    case Collective::kBroadcast:
    case Collective::kReduce:
      return rank == root ? 0 : kApart;
    default:
      return kApart;
  }
}

// Where the output of an in-place call lies in the input, with the other collectives.
u64 output_at(Collective collective, u32 rank, u32 root, u64 count) {
  const bool lies = collective == Collective::kReduceScatter ||
                    (collective == Collective::kScatter && rank == root);
  return lies ? rank * count : kApart;
}

struct Trial {
  u32 n;
  Direction direction;
  Collective collective;
  u64 count;
  u32 root;
  bool in_place;
  u64 open_inputs, open_outputs;
};

void run_and_check(World& world, const Trial& t, std::mt19937_64* random) {
  const u64 total = t.count * (one_region(t.collective) ? 1 : t.n);
  const std::vector<Bytes> inputs = random_buffers(t.n, total, random);
  std::vector<Bytes> send(t.n, Bytes(total, 0x55)), recv(t.n, Bytes(total, 0xee)), got(t.n);
  WorldCall call;
  call.collective = t.collective;
  call.transformation = transformation_of(t.collective, false);
  call.count = t.count;
  call.root = t.root;
  call.in_place = t.in_place;
  call.windows = true;
  call.open_inputs = t.open_inputs;
  call.open_outputs = t.open_outputs;
  const auto within = [&](u32 r) { return input_at(t.collective, r, t.root, t.count); };
  const auto around = [&](u32 r) { return output_at(t.collective, r, t.root, t.count); };
  if (t.in_place) {
    call.input_in_output = within;
    call.output_in_input = around;
  }
  const auto input_of = [&](u32 r) {
    return t.in_place && within(r) != kApart ? recv[r].data() + within(r) : send[r].data();
  };
  call.after = [&](u32 r) {
    const u64 at = t.in_place ? around(r) : kApart;
    got[r] = at == kApart ? recv[r]
                          : Bytes(send[r].begin() + static_cast<long>(at),
                                  send[r].begin() + static_cast<long>(at + t.count));
    std::memset(send[r].data(), 0xdd, send[r].size());
    std::memset(recv[r].data(), 0xdd, recv[r].size());
  };
  const auto finished = world.run(call, &send, &recv, nullptr, [&](u32 r) {
    const u64 bytes = t.collective == Collective::kAllGather || t.collective == Collective::kGather
                          ? t.count
                          : total;
    if (bytes != 0) std::memcpy(input_of(r), inputs[r].data(), bytes);
  });
  for (u32 r = 0; r < t.n; ++r) {
    CAPTURE(t.n);
    CAPTURE(r);
    CAPTURE(t.count);
    CAPTURE(static_cast<int>(t.collective));
    CAPTURE(static_cast<int>(t.direction));
    CAPTURE(t.in_place);
    CAPTURE(t.open_inputs);
    CAPTURE(t.open_outputs);
    REQUIRE(finished[r]);
    const Bytes want = serial_result(t.collective, t.n, r, t.root, t.count, inputs);
    got[r].resize(want.size());
    REQUIRE((got[r] == want));
  }
  count_cases(1);
}

}  // namespace

TEST_CASE("every collective, whatever ranks offer windows, equals the serial result") {
  std::mt19937_64 random(seed());
  for (u32 n : {1u, 2u, 3u, 4u, 7u}) {
    for (Direction direction : {Direction::kPull, Direction::kPush}) {
      WorldOptions options;
      options.nranks = n;
      options.ctas = 1 + n % 3;
      options.first = options.second = direction;
      World world(options);
      for (u64 count : {u64{0}, u64{1}, u64{130}, u64{1003}, u64{9001}}) {
        for (Collective collective : kAll) {
          for (bool in_place : {false, true}) {
            if (!is_tried(random, 3)) continue;
            const u64 all = all_ranks(n);
            for (const auto& [inputs, outputs] :
                 {std::pair{all, all}, {all, u64{0}}, {u64{0}, all}, {random(), random()}})
              run_and_check(world,
                            {n, direction, collective, count, static_cast<u32>(random() % n),
                             in_place, inputs, outputs},
                            &random);
          }
        }
      }
    }
  }
}

TEST_CASE("a place that is not mapped here stops all ranks, and the record says whose") {
  WorldOptions options;
  options.nranks = 3;
  World world(options);
  std::vector<Bytes> send(3, Bytes(3000, 1)), recv(3, Bytes(9000));
  WorldCall call;
  call.collective = Collective::kAllGather;
  call.transformation = transformation_of(call.collective, false);
  call.count = 3000;
  call.windows = true;
  call.open_inputs = 1u << 1;
  SUBCASE("the window is closed") {
    // After the ranks' tables are written: rank 2 says that line 1 is another window's.
    call.mapped = [&](u32 rank) {
      if (rank == 2) *window_line(world.block(2), world.map(), 3, 1) = 1 + kWindows;
    };
  }
  SUBCASE("the place reaches beyond the window") {
    call.mapped = [&](u32 rank) {
      if (rank == 2) buffers_of(window_line(world.block(2), world.map(), 3, 1))[1].bytes = 2999;
    };
  }
  const auto finished = world.run(call, &send, &recv);
  CHECK_FALSE(finished[1]);  // which nobody told that rank 2 has read; rank 0 may have ended
  CHECK_FALSE(finished[2]);
  CHECK(world.record(2).kind == StopKind::kNoWindow);
  CHECK(world.record(2).peer == 1);
  CHECK(world.record(2).found_bytes == 1);
}

TEST_CASE("an owner whose buffer is not read to its end stops with a record that says so") {
  World world(WorldOptions{});
  std::vector<Control> controls(2);
  CallParams p;
  p.nranks = 2;
  p.map = world.map();
  p.timeout_ns = 1'000'000;
  p.controls = controls.data();
  for (u32 r = 0; r < 2; ++r) p.peers[r] = world.block(r);
  purlin_constants constants{};
  constants.struct_size = sizeof constants;
  constants.nranks = 2;
  constants.dtype = PURLIN_U8;
  Form form;
  form.steps = 2;
  HostEnv env(form, p, naive_atom(), constants, HostPatience{50, 20}, nullptr, 1);
  CHECK(await_exits(env, p, 1, 1, 0, 1));  // it offered nothing
  p.place[1] = place_in(1, 0);
  p.send[1][1].bytes = 100;
  CHECK_FALSE(await_exits(env, p, 1, 1, 0, 1));
  CHECK(controls[0].record.kind == StopKind::kTimeout);
  CHECK(controls[0].record.peer == 1);
  CHECK(controls[0].record.step == (1 | kExitStep));
}
