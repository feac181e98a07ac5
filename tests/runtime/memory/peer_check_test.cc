#include "memory/peer_check.h"

#include <cstring>

#include "gpu/fake_gpu.h"
#include "memory/peer_mapping.h"

namespace purlin {
namespace {

using test::check_refusal;
using test::FakeGpu;
using test::FakeSetup;

// Ranks of one process, each with memory that all map.
struct Ranks {
  Ranks(FakeGpu& gpu, int n) {
    for (int rank = 0; rank < n; ++rank) {
      devices.push_back(gpu.device(rank % 2));
      described.push_back(devices.back()->describe());
      Result<DeviceMemory> memory = DeviceMemory::create(devices.back(), 4096, "staging");
      REQUIRE_MESSAGE(memory.is_ok(), memory.status().message());
      memories.push_back(std::move(memory).value());
    }
    for (int rank = 0; rank < n; ++rank) {
      std::vector<cu::DevicePtr> seen;
      for (int peer = 0; peer < n; ++peer) {
        if (peer == rank) {
          seen.push_back(memories[static_cast<size_t>(peer)].address());
          continue;
        }
        Result<PeerMapping> mapping =
            PeerMapping::share(devices[static_cast<size_t>(rank)],
                               memories[static_cast<size_t>(peer)], "rank " + std::to_string(peer));
        REQUIRE_MESSAGE(mapping.is_ok(), mapping.status().message());
        seen.push_back(mapping->address());
        mappings.push_back(std::move(mapping).value());
      }
      regions.push_back(std::move(seen));
    }
  }
  void write(uint64_t nonce, int except = -1) {
    for (int rank = 0; rank < static_cast<int>(devices.size()); ++rank) {
      if (rank == except) continue;
      REQUIRE(write_peer_marks(device(rank), rank, nonce, seen_by(rank)).is_ok());
    }
  }
  Status check(int rank, uint64_t nonce) {
    return check_peer_marks(device(rank), rank, nonce, seen_by(rank), described);
  }
  const std::shared_ptr<const CudaDevice>& device(int rank) {
    return devices[static_cast<size_t>(rank)];
  }
  const std::vector<cu::DevicePtr>& seen_by(int rank) { return regions[static_cast<size_t>(rank)]; }

  std::vector<std::shared_ptr<const CudaDevice>> devices;
  std::vector<std::string> described;
  std::vector<DeviceMemory> memories;
  std::vector<PeerMapping> mappings;
  std::vector<std::vector<cu::DevicePtr>> regions;
};

TEST_CASE("marks of all peers arrive and are cleared") {
  FakeGpu gpu;
  Ranks ranks(gpu, 5);
  ranks.write(99);
  for (int rank = 0; rank < 5; ++rank) CHECK(ranks.check(rank, 99).is_ok());
  for (int rank = 0; rank < 5; ++rank) {
    REQUIRE(clear_peer_marks(ranks.device(rank), rank, ranks.seen_by(rank)).is_ok());
    const auto* memory =
        static_cast<const unsigned char*>(ranks.memories[static_cast<size_t>(rank)].data());
    for (size_t i = 0; i < 5 * kPeerMarkBytes; ++i) CHECK(memory[i] == 0);
  }
}

TEST_CASE("a peer whose writes are lost is named with both devices") {
  FakeSetup setup;
  setup.lost_writes = true;
  FakeGpu gpu(setup);
  Ranks ranks(gpu, 2);
  ranks.write(7);
  check_refusal(ranks.check(0, 7), PURLIN_UNSUPPORTED,
                {"rank 1 (GPU 1", "rank 0 (GPU 0", "did not arrive", "IOMMU"});
}

TEST_CASE("a mark of another communicator, of another rank, or none, is not taken for one") {
  FakeGpu gpu;
  Ranks ranks(gpu, 3);
  ranks.write(7);
  CHECK_FALSE(ranks.check(0, 8).is_ok());
  CHECK(ranks.check(0, 7).is_ok());
  auto* memory = static_cast<std::byte*>(ranks.memories[0].data());
  std::memcpy(memory + kPeerMarkBytes, memory + 2 * kPeerMarkBytes, kPeerMarkBytes);
  check_refusal(ranks.check(0, 7), PURLIN_UNSUPPORTED, {"rank 1"});
  Ranks silent(gpu, 3);
  silent.write(7, 2);
  check_refusal(silent.check(1, 7), PURLIN_UNSUPPORTED, {"rank 2"});
}

}  // namespace
}  // namespace purlin
