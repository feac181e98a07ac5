#include "communicator/cuda_window.h"

#include <fmt/format.h>

#include "memory/peer_buffer.h"
#include "rendezvous/records.h"

namespace purlin {
namespace {

class CudaWindow : public WindowMemory {
 public:
  CudaWindow(BufferOffer offer, std::vector<PeerBuffer> peers)
      : offer_(std::move(offer)), peers_(std::move(peers)) {}
  Status check_unchanged(uint64_t offset, uint64_t bytes) const override {
    return offer_.check_unchanged(offset, bytes);
  }

 private:
  BufferOffer offer_;
  std::vector<PeerBuffer> peers_;  // unmapped before own memory is given up
};

// The descriptors of `owner` on every rank; none for other ways of sharing.
Result<std::vector<OwnedFd>> descriptors_of(int owner, const BufferRecord& record,
                                            const std::vector<OwnedFd>& own,
                                            Rendezvous& rendezvous) {
  if (record.form != ShareForm::kDescriptors) return std::vector<OwnedFd>();
  std::vector<int> fds;
  if (owner == rendezvous.rank())
    for (const OwnedFd& fd : own) fds.push_back(fd.get());
  return rendezvous.broadcast_fds(owner, fds);
}

}  // namespace

Result<MappedWindow> map_cuda_window(const std::shared_ptr<const CudaDevice>& device, void* buffer,
                                     uint64_t bytes, Rendezvous& rendezvous) {
  auto offer = BufferOffer::make(device, buffer, bytes);
  std::vector<OwnedFd> own;
  Status status = offer.status();
  if (offer) {
    auto fds = offer->export_fds();
    status = fds.status();
    if (fds) own = std::move(*fds);
  }
  PURLIN_RETURN_IF_ERROR(rendezvous.agree(status));
  auto records = gather_records(offer->record(), "registered buffers", rendezvous);
  if (!records) return records.status();

  MappedWindow window;
  std::vector<PeerBuffer> peers;
  for (size_t r = 0; r < records->size(); ++r) {
    const BufferRecord& record = (*records)[r];
    const std::string who = fmt::format("rank {}", r);
    auto fds = descriptors_of(static_cast<int>(r), record, own, rendezvous);
    if (!fds) return fds.status();
    uint64_t base = 0;
    if (static_cast<int>(r) == rendezvous.rank()) {
      base = offer->shareable() ? record.address : 0;
      if (base == 0 && window.why_not.empty())
        window.why_not = fmt::format("the buffer of {}: {}", who, record.why_not);
    } else if (record.form != ShareForm::kNone) {
      auto peer = PeerBuffer::open(device, record, *fds, who);
      if (peer) {
        base = peer->address();
        peers.push_back(std::move(*peer));
      } else if (window.why_not.empty()) {
        window.why_not = peer.status().message();
      }
    }
    window.buffers.push_back({base, record.bytes});
  }
  window.memory = std::make_unique<CudaWindow>(std::move(*offer), std::move(peers));
  return window;
}

}  // namespace purlin
