// Sharing a buffer of the application with the other ranks, for zero-copy.
//
// Each rank offers its buffer, the ranks exchange the offers' records and descriptors, and each opens
// the others'. A buffer that cannot be shared gives an offer that says why: no error, the call is then
// carried out through staging. An offer and what peers opened from it stay valid, and the physical
// memory alive, until they are destroyed; the application's own free may come earlier.
#pragma once

#include <vector>

#include "memory/buffer_origin.h"
#include "memory/owned_fd.h"
#include "memory/peer_mapping.h"

namespace purlin {

enum class ShareForm : uint32_t { kNone = 0, kDescriptors = 1, kLegacy = 2 };

// What a rank tells the others. Trivially copyable, exchanged as bytes.
struct BufferRecord {
  static constexpr unsigned kMaxPieces = 32;
  ShareForm form;
  uint32_t piece_count;
  uint64_t bytes;      // of the buffer
  uint64_t offset;     // of the buffer within its first piece
  uint64_t process;    // process_token()
  uint64_t buffer_id;
  uint64_t address;    // in the owner's process
  cu::Uuid device;
  cu::IpcMemHandle legacy;  // kLegacy
  uint64_t piece_bytes[kMaxPieces];
  char why_not[256];  // kNone
};

class BufferOffer {
 public:
  // Never fails for memory that cannot be shared. Fails as origin_of does.
  static Result<BufferOffer> make(std::shared_ptr<const CudaDevice> device, void* address,
                                  uint64_t bytes);
  // An offer that only says why there is none.
  static BufferOffer none(std::string reason);
  BufferOffer(BufferOffer&& other) noexcept;
  BufferOffer& operator=(BufferOffer&& other) noexcept;
  ~BufferOffer();

  const BufferRecord& record() const { return record_; }
  bool shareable() const { return record_.form != ShareForm::kNone; }
  // Descriptors for the peers, one for each piece; empty for other forms.
  Result<std::vector<OwnedFd>> export_fds() const;
  // PURLIN_INVALID_USAGE if the buffer has been freed or remapped since it was offered.
  Status check_unchanged() const;

 private:
  BufferOffer() = default;
  Status retain_pieces(const BufferOrigin& origin);
  void release();

  std::shared_ptr<const CudaDevice> device_;
  BufferRecord record_ = {};
  std::vector<cu::MemHandle> handles_;
};

// A peer's buffer as this rank's device reaches it. Movable.
class PeerBuffer {
 public:
  PeerBuffer() = default;
  // `fds`: the owner's descriptors, in order (empty unless kDescriptors). `who` names the owner.
  static Result<PeerBuffer> open(std::shared_ptr<const CudaDevice> device,
                                 const BufferRecord& record, std::span<const OwnedFd> fds,
                                 const std::string& who);
  cu::DevicePtr address() const { return address_; }

 private:
  struct LegacyOpen;
  static Result<std::shared_ptr<LegacyOpen>> open_legacy(std::shared_ptr<const CudaDevice> device,
                                                         const BufferRecord& record,
                                                         const std::string& who);
  PeerMapping mapping_;
  std::shared_ptr<LegacyOpen> legacy_;
  cu::DevicePtr address_ = 0;
};

}  // namespace purlin
