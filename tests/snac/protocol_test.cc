// The two protocols against results written down by hand, on threads.
#include <doctest/doctest.h>

#include <random>

#include "level.h"
#include "serial.h"
#include "world.h"

using namespace purlin::snac;
using namespace purlin::test;

TEST_CASE("every collective, both protocols, both directions, in rounds, equals the serial result") {
  std::mt19937_64 random(seed());
  const Collective all[] = {Collective::kAllGather, Collective::kReduceScatter, Collective::kAllReduce,
                            Collective::kAllToAll, Collective::kBroadcast, Collective::kReduce,
                            Collective::kScatter, Collective::kGather};
  for (u32 n : {1u, 2u, 3u, 4u, 7u}) {
    for (int direction = 0; direction < 2; ++direction) {
      WorldOptions options;
      options.nranks = n;
      options.ctas = 1 + n % 3;
      options.first = options.second = direction ? Direction::kPush : Direction::kPull;
      World world(options);
      for (u64 count : {u64{0}, u64{1}, u64{15}, u64{130}, u64{1003}, u64{9001}}) {
        for (Collective collective : all) {
          for (bool latency : {false, true}) {
            if (latency && count * n > 1000) continue;
            for (bool one_shot : {false, true}) {
              if (one_shot && (collective != Collective::kAllReduce || !latency)) continue;
              WorldCall call;
              call.collective = collective;
              call.one_shot = one_shot;
              call.transformation = transformation_of(collective, one_shot);
              call.latency = latency;
              call.throughput = !latency;
              call.count = count;
              call.root = static_cast<u32>(random() % n);
              const u64 regions = one_region(collective) ? 1 : n;
              auto send = random_buffers(n, count * regions, &random);
              std::vector<Bytes> recv(n, Bytes(count * regions, 0xee));
              const auto finished = world.run(call, &send, &recv);
              for (u32 r = 0; r < n; ++r) {
                CAPTURE(n);
                CAPTURE(r);
                CAPTURE(count);
                CAPTURE(static_cast<int>(collective));
                CAPTURE(latency);
                REQUIRE(finished[r]);
                Bytes want = serial_result(collective, n, r, call.root, count, send);
                const Bytes rest(recv[r].size() - want.size(), 0xee);
                want.insert(want.end(), rest.begin(), rest.end());
                REQUIRE((recv[r] == want));
              }
              count_cases(1);
            }
          }
        }
      }
    }
  }
}
