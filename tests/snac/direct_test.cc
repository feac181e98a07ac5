// Copies whose consumers read the stagers' own input where it lies.
#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <random>
#include <thread>

#include "level.h"
#include "serial.h"
#include "world.h"

using namespace purlin::snac;
using namespace purlin::test;

namespace {

const ReadPeer kPlain = [](u32, void* to, u64 address, u64 bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
  return 0;
};

WorldCall gather_call(Collective collective, u64 count, const ReadPeer* read) {
  WorldCall call;
  call.collective = collective;
  call.transformation = transformation_of(collective, false);
  call.count = count;
  call.direct = read;
  return call;
}

}  // namespace

TEST_CASE("which steps can be read directly") {
  const auto can = [](Collective collective, Direction direction) {
    const Transformation t = transformation_of(collective, false);
    return can_read_direct(form_of(t, 4, set_geometry(t, 4, 4096, 256, direction, direction)));
  };
  for (Collective collective : {Collective::kAllGather, Collective::kGather}) {
    CHECK(can(collective, Direction::kPull));
    CHECK_FALSE(can(collective, Direction::kPush));
  }
  for (Collective collective :
       {Collective::kAllReduce, Collective::kReduceScatter, Collective::kAllToAll,
        Collective::kBroadcast, Collective::kScatter, Collective::kReduce})
    CHECK_FALSE(can(collective, Direction::kPull));
}

TEST_CASE("gathering by reading equals the serial result, call after call") {
  std::mt19937_64 random(seed());
  for (u32 n : {1u, 2u, 3u, 4u, 7u}) {
    WorldOptions options;
    options.nranks = n;
    World world(options);
    // More than a piece of a read among them.
    for (u64 count : {u64{0}, u64{1}, u64{15}, u64{9001}, u64{(1 << 20) + 3}}) {
      for (Collective collective : {Collective::kAllGather, Collective::kGather}) {
        if (!is_tried(random, 2)) continue;
        WorldCall call = gather_call(collective, count, &kPlain);
        call.root = static_cast<u32>(random() % n);
        auto send = random_buffers(n, count, &random);
        std::vector<Bytes> recv(n, Bytes(count * n, 0xee));
        const auto finished = world.run(call, &send, &recv);
        Bytes all;
        for (const Bytes& one : send) all.insert(all.end(), one.begin(), one.end());
        for (u32 r = 0; r < n; ++r) {
          CAPTURE(n);
          CAPTURE(r);
          CAPTURE(count);
          REQUIRE(finished[r]);
          const bool receives = collective == Collective::kAllGather || r == call.root;
          REQUIRE((recv[r] == (receives ? all : Bytes(count * n, 0xee))));
        }
        // The same flags in a call of the other kind.
        call.direct = nullptr;
        const auto staged = world.run(call, &send, &recv);
        for (u32 r = 0; r < n; ++r) REQUIRE(staged[r]);
        count_cases(1);
      }
    }
  }
}

TEST_CASE("a stager stays in its call until all have read") {
  constexpr u32 kRanks = 3;
  World world({.nranks = kRanks});
  std::mt19937_64 random(seed());
  auto send = random_buffers(kRanks, 100, &random);
  std::vector<Bytes> recv(kRanks, Bytes(100 * kRanks));
  std::atomic<u32> reads{0};
  const ReadPeer read = [&](u32 peer, void* to, u64 address, u64 bytes) {
    // The others get far ahead of this one.
    if (peer == 0)
      for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    const int error = kPlain(peer, to, address, bytes);
    ++reads;
    return error;
  };
  std::vector<u32> seen(kRanks);
  WorldCall call = gather_call(Collective::kAllGather, 100, &read);
  call.after = [&](u32 rank) { seen[rank] = reads; };
  world.run(call, &send, &recv);
  CHECK(reads == kRanks * (kRanks - 1));
  // Own two reads, that of rank 1, and both of rank 2, which comes to rank 0 last.
  CHECK(seen[0] >= 5);
}

TEST_CASE("a stager whose input is not read to its end stops with a record that says so") {
  World world({.nranks = 2, .timeout_ns = 100'000'000});
  std::mt19937_64 random(seed());
  auto send = random_buffers(2, 100, &random);
  std::vector<Bytes> recv(2, Bytes(200));
  std::atomic<bool> ended{false};
  const ReadPeer read = [&](u32 peer, void* to, u64 address, u64 bytes) {
    while (peer == 0 && !ended) std::this_thread::yield();
    return kPlain(peer, to, address, bytes);
  };
  WorldCall call = gather_call(Collective::kAllGather, 100, &read);
  call.after = [&](u32 rank) { ended = ended || rank == 0; };
  CHECK_FALSE(world.run(call, &send, &recv)[0]);
  CHECK(world.record(0).kind == StopKind::kTimeout);
  CHECK(world.record(0).peer == 1);
  CHECK(world.record(0).step == kExitStep);
}

TEST_CASE(
    "a peer whose process ends is waited for, and memory that must not be read stops all ranks") {
  constexpr u32 kRanks = 3;
  std::mt19937_64 random(seed());
  auto send = random_buffers(kRanks, 100, &random);
  std::vector<Bytes> recv(kRanks, Bytes(100 * kRanks));
  for (const int error : {ESRCH, EPERM, EFAULT}) {
    World world({.nranks = kRanks});
    std::atomic<int> refused{0};
    const ReadPeer read = [&](u32 peer, void* to, u64 address, u64 bytes) {
      const bool refuses = peer == 1 && refused++ < (error == ESRCH ? 100 : 1);
      return refuses ? error : kPlain(peer, to, address, bytes);
    };
    const WorldCall call = gather_call(Collective::kAllGather, 100, &read);
    const auto finished = world.run(call, &send, &recv);
    if (error == ESRCH) {
      for (u32 r = 0; r < kRanks; ++r) CHECK(finished[r]);
      continue;
    }
    u32 unreadable = 0;
    for (u32 r = 0; r < kRanks; ++r) {
      if (world.record(r).kind != StopKind::kUnreadable) continue;
      ++unreadable;
      CHECK_FALSE(finished[r]);
      CHECK(world.record(r).peer == 1);
      CHECK(world.record(r).found_bytes == static_cast<u64>(error));
    }
    CHECK(unreadable == 1);
    CHECK_FALSE(finished[1]);
  }
}
