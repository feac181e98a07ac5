#include "memory/peer_check.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "device/private_stream.h"

namespace purlin {
namespace {

using Mark = std::array<uint64_t, kPeerMarkBytes / sizeof(uint64_t)>;

// Different for every writer, owner and communicator, and never zero: the finalizer of splitmix64
// is a bijection.
Mark mark_of(uint64_t nonce, size_t writer, size_t owner) {
  Mark mark;
  for (size_t word = 0; word < mark.size(); ++word) {
    uint64_t x = nonce + 0x9e3779b97f4a7c15u * (1 + word + mark.size() * (writer + 4096 * owner));
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    mark[word] = (x ^ (x >> 31)) | 1;
  }
  return mark;
}

}  // namespace

Status write_peer_marks(const std::shared_ptr<const CudaDevice>& device, int rank, uint64_t nonce,
                        std::span<const cu::DevicePtr> regions) {
  Result<PrivateStream> stream = PrivateStream::create(device);
  if (!stream) return stream.status();
  const ContextScope scope(*device);
  PURLIN_RETURN_IF_ERROR(scope.status());
  const size_t self = static_cast<size_t>(rank);
  std::vector<Mark> marks(regions.size());
  for (size_t peer = 0; peer < regions.size(); ++peer) {
    if (peer == self) continue;
    marks[peer] = mark_of(nonce, self, peer);
    PURLIN_RETURN_IF_ERROR(
        device->api()
            .memcpy_htod_async(regions[peer] + self * kPeerMarkBytes, marks[peer].data(),
                               kPeerMarkBytes, stream->get())
            .with_context(fmt::format("writing into the memory of rank {} from {}", peer,
                                      device->describe())));
  }
  return stream->synchronize();
}

Status check_peer_marks(const std::shared_ptr<const CudaDevice>& device, int rank, uint64_t nonce,
                        std::span<const cu::DevicePtr> regions,
                        std::span<const std::string> described) {
  Result<PrivateStream> stream = PrivateStream::create(device);
  if (!stream) return stream.status();
  const ContextScope scope(*device);
  PURLIN_RETURN_IF_ERROR(scope.status());
  const size_t self = static_cast<size_t>(rank);
  std::vector<Mark> found(regions.size());
  PURLIN_RETURN_IF_ERROR(device->api().memcpy_dtoh_async(
      found.data(), regions[self], found.size() * kPeerMarkBytes, stream->get()));
  PURLIN_RETURN_IF_ERROR(stream->synchronize());
  for (size_t peer = 0; peer < regions.size(); ++peer) {
    if (peer == self || found[peer] == mark_of(nonce, peer, self)) continue;
    return {
        PURLIN_UNSUPPORTED,
        fmt::format("what rank {} ({}) wrote into the memory of rank {} ({}) did not arrive there, "
                    "though the driver mapped it. Peer access is broken on this system: turn off "
                    "the IOMMU or ACS redirection for the GPUs, see nvidia-smi topo -p2p w, or use "
                    "host ranks",
                    peer, described[peer], rank, described[self])};
  }
  return {};
}

Status clear_peer_marks(const std::shared_ptr<const CudaDevice>& device, int rank,
                        std::span<const cu::DevicePtr> regions) {
  Result<PrivateStream> stream = PrivateStream::create(device);
  if (!stream) return stream.status();
  const ContextScope scope(*device);
  PURLIN_RETURN_IF_ERROR(scope.status());
  PURLIN_RETURN_IF_ERROR(device->api().memset_d8_async(
      regions[static_cast<size_t>(rank)], 0, regions.size() * kPeerMarkBytes, stream->get()));
  return stream->synchronize();
}

}  // namespace purlin
