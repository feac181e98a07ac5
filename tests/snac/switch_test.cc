// The switch protocol on threads, its view a list of replicas, against results written down by hand.
#include <doctest/doctest.h>

#include <random>
#include <string>

#include "level.h"
#include "world.h"

using namespace purlin::snac;
using namespace purlin::test;

namespace {

constexpr Collective kSwitched[] = {Collective::kAllGather, Collective::kReduceScatter,
                                    Collective::kAllReduce};

WorldOptions small_world(u32 n, u32 ctas) {
  WorldOptions options;
  options.nranks = n;
  options.switch_bytes = 2048;
  options.chunk_bytes = 64;
  options.ctas = ctas;
  return options;
}

u64 regions_in(Collective c, u32 n) { return c == Collective::kReduceScatter ? n : 1; }
u64 regions_out(Collective c, u32 n) { return c == Collective::kAllGather ? n : 1; }

Bytes expected(Collective collective, u32 rank, u64 count, const std::vector<Bytes>& in) {
  Bytes out;
  if (collective == Collective::kAllGather) {
    for (const Bytes& one : in) out.insert(out.end(), one.begin(), one.end());
    return out;
  }
  const u64 begin = collective == Collective::kReduceScatter ? rank * count : 0;
  out.assign(count, 0);
  for (const Bytes& one : in)
    for (u64 i = 0; i < count; ++i) out[i] = static_cast<unsigned char>(out[i] + one[begin + i]);
  return out;
}

// Makes one call on `world` and checks every rank.
void run_and_check(World& world, Collective collective, u32 n, u64 count, bool in_place,
                   std::mt19937_64& random, const std::function<void(u32)>& before = {}) {
  WorldCall call;
  call.collective = collective;
  call.transformation = transformation_of(collective);
  call.switched = true;
  call.count = count;
  std::vector<Bytes> send(n, Bytes(count * regions_in(collective, n)));
  std::vector<Bytes> recv(n, Bytes(count * regions_out(collective, n), 0xee));
  for (Bytes& one : send)
    for (unsigned char& byte : one) byte = static_cast<unsigned char>(random());
  const std::vector<Bytes> in = send;
  std::vector<Bytes>& out = in_place ? send : recv;
  const auto finished = world.run(call, &send, in_place ? &send : &recv, nullptr, before);
  for (u32 r = 0; r < n; ++r) {
    CAPTURE(n);
    CAPTURE(r);
    CAPTURE(count);
    CAPTURE(static_cast<int>(collective));
    REQUIRE(finished[r]);
    REQUIRE((out[r] == expected(collective, r, count, in)));
  }
  count_cases(1);
}

}  // namespace

TEST_CASE("a switched call of any size, in rounds, on several CTAs, equals the serial result") {
  std::mt19937_64 random(seed());
  for (u32 n : {1u, 2u, 3u, 4u, 7u, 8u}) {
    World world(small_world(n, 1 + n % 3));
    for (u64 count : {u64{0}, u64{1}, u64{15}, u64{16}, u64{17}, u64{130}, u64{1003}, u64{9001}})
      for (Collective collective : kSwitched) run_and_check(world, collective, n, count, false, random);
  }
}

TEST_CASE("a switched all-reduce in place reads every chunk before it is overwritten") {
  std::mt19937_64 random(seed() + 1);
  for (u32 n : {2u, 5u}) {
    World world(small_world(n, 2));
    for (u64 count : {u64{33}, u64{5000}})
      run_and_check(world, Collective::kAllReduce, n, count, true, random);
  }
}

TEST_CASE("switched and other calls take turns on one wire, one rank late") {
  std::mt19937_64 random(seed() + 2);
  const u32 n = 4;
  World world(small_world(n, 1));
  for (u32 i = 0; i < 60; ++i) {
    const u32 late = static_cast<u32>(random() % n);
    const u64 spins = random() % 20000;
    const auto delay = [&](u32 r) {
      if (r != late) return;
      for (volatile u64 k = 0; k < spins;) k = k + 1;
    };
    run_and_check(world, kSwitched[random() % 3], n, random() % 3000, false, random, delay);
    if (i % 3 != 0) continue;
    WorldCall plain;
    plain.collective = Collective::kAllReduce;
    plain.transformation = transformation_of(plain.collective);
    plain.count = 700;
    std::vector<Bytes> send(n, Bytes(plain.count, static_cast<unsigned char>(i)));
    std::vector<Bytes> recv(n, Bytes(plain.count));
    world.run(plain, &send, &recv);
    for (u32 r = 0; r < n; ++r)
      REQUIRE((recv[r] == Bytes(plain.count, static_cast<unsigned char>(i * n))));
  }
}

TEST_CASE("ranks that disagree about a switched call are told") {
  const u32 n = 2;
  World world(small_world(n, 1));
  WorldCall call;
  call.collective = Collective::kAllReduce;
  call.transformation = transformation_of(call.collective);
  call.switched = true;
  std::vector<Bytes> send(n, Bytes(400)), recv(n, Bytes(400));
  std::vector<CallSizes> sizes(n);
  sizes[0].count = 400;
  sizes[1].count = 320;
  const auto finished = world.run(call, &send, &recv, &sizes);
  CHECK(!(finished[0] && finished[1]));
  const bool named = world.record(0).kind == StopKind::kMismatch ||
                     world.record(1).kind == StopKind::kMismatch;
  CHECK(named);
}

TEST_CASE("the switch staging holds a region for each rank in equal places, within its half") {
  for (u32 n : {2u, 3u, 8u, 64u}) {
    for (u64 half : {u64{64} << 10, u64{32} << 20}) {
      const Geometry g = set_switch_geometry(n, half, 128 << 10);
      CHECK(g.slots >= 1);
      CHECK(g.slots <= kMaxSlots);
      CHECK(g.chunk_bytes() <= 128 << 10);
      CHECK(n * g.slots * g.chunk_bytes() <= half);
    }
  }
}
