// The wire's map beyond 2^31 and 2^32 bytes: nothing wraps, nothing overlaps.
#include <doctest/doctest.h>

#include <vector>

#include "level.h"
#include "snac/plan.h"

using namespace purlin::snac;

TEST_CASE("sections of any size follow one another and hold what they are asked for") {
  for (u32 n : {1u, 2u, 8u, 64u}) {
    for (u64 size : {u64{4096}, (u64{1} << 31) - 4096, u64{1} << 31, (u64{1} << 31) + 4096,
                     (u64{1} << 32) + 4096, u64{1} << 40}) {
      WireConfig config;
      config.nranks = n;
      config.max_ctas = 512;
      config.latency_bytes = size;
      config.throughput_bytes = size;
      config.pair_slots = 4;
      config.pair_slot_bytes = 65536;
      const WireMap map = map_wire(config);
      CAPTURE(n);
      CAPTURE(size);
      CHECK(map.staging_bytes == size);
      CHECK(map.packets_per_source * n * 16 <= size);
      CHECK(map.packets_per_source * n * 16 + n * 16 > size);
      CHECK(map.packets + 2 * n * map.packets_per_source * 16 <= map.staging);
      CHECK(map.staging + 2 * size <= map.pair_slots);
      CHECK(map.pair_slots + u64{n} * 4 * 65536 <= map.total);
      CHECK(map.total > 4 * size - 2 * 16 * n);
      purlin::test::count_cases(1);
    }
  }
}

TEST_CASE("the last slot of the last stream ends inside its half, whatever the half's size") {
  for (Collective collective : {Collective::kAllReduce, Collective::kAllToAll, Collective::kAllGather}) {
    const Transformation t = transformation_of(collective);
    for (u32 n : {2u, 8u, 64u}) {
      for (u64 half : {u64{65536}, (u64{1} << 31) + 4096, (u64{1} << 32) + 4096}) {
        for (u64 chunk : {u64{1024}, u64{1} << 20, u64{1} << 30}) {
          for (Direction direction : {Direction::kPull, Direction::kPush}) {
            const Geometry g = set_geometry(t, n, half, chunk, direction, direction);
            CallParams p;
            p.nranks = n;
            p.map.staging_bytes = half;
            p.geometry = g;
            const u32 last = t.step_count - 1;
            const bool shared = shares_input(t.steps[last]) && direction == Direction::kPull;
            // Peers' memory begins at 0 here, so a slot's address is its offset.
            const u8* slot = slot_at(p, 1, last, n - 1, n - 1, shared, g.slots - 1);
            const u64 end = reinterpret_cast<u64>(slot) + g.chunk_bytes();
            CAPTURE(n);
            CAPTURE(half);
            CAPTURE(chunk);
            CHECK(end <= 2 * half);
            CHECK(end > half);
            CHECK(g.slots >= 1);
            CHECK(g.slots <= kMaxSlots);
            CHECK(g.chunk_bytes() <= chunk);
            purlin::test::count_cases(1);
          }
        }
      }
    }
  }
}
