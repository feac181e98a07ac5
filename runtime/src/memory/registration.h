// Sharing a buffer of the application with the other ranks, for zero-copy: the owner's side.
//
// Each rank offers its buffer, the ranks exchange the offers' records and descriptors, and each
// opens the others' (peer_buffer.h). A buffer that cannot be shared gives an offer that says why:
// no error, the call is then carried out through staging.
#pragma once

#include <vector>

#include "memory/buffer_origin.h"
#include "memory/owned_fd.h"

namespace purlin {

enum class ShareForm : uint32_t { kNone = 0, kDescriptors = 1, kLegacy = 2 };

// What a rank tells the others. Trivially copyable, exchanged as bytes.
struct BufferRecord {
  static constexpr unsigned kMaxPieces = 32;
  ShareForm form;
  uint32_t piece_count;
  uint64_t bytes;      // of the buffer
  uint64_t offset;     // of the buffer within its first piece
  uint64_t process;    // process_token() of the owner
  uint64_t memory_id;  // of the first piece
  uint64_t address;    // in the owner's process
  cu::Uuid device;
  cu::IpcMemHandle legacy;  // kLegacy
  uint64_t piece_bytes[kMaxPieces];
  char why_not[256];  // kNone
};

// Keeps the physical memory alive until it goes, so the application's free may come earlier
// (virtual memory; a plain allocation must outlive the offer). Movable, not thread-safe.
class BufferOffer {
 public:
  // Never fails for memory that cannot be shared. Fails as origin_of does.
  static Result<BufferOffer> make(std::shared_ptr<const CudaDevice> device, void* address,
                                  uint64_t bytes);
  // An offer that only says why there is none.
  static BufferOffer none(const std::string& reason);
  BufferOffer(BufferOffer&& other) noexcept;
  BufferOffer& operator=(BufferOffer&& other) noexcept;
  ~BufferOffer();

  const BufferRecord& record() const { return record_; }
  bool shareable() const { return record_.form != ShareForm::kNone; }
  // Descriptors for the peers, one for each piece; empty for other forms.
  Result<std::vector<OwnedFd>> export_fds() const;
  // PURLIN_INVALID_USAGE if memory under [offset, offset + bytes) of the buffer has been freed or
  // remapped since it was offered; one driver call for each piece that lies there. Of an offer that
  // is not shareable nothing is said.
  Status check_unchanged(uint64_t offset, uint64_t bytes) const;

 private:
  // The part of the buffer that lies in one piece, and the piece's memory_id_of.
  struct Part {
    uint64_t begin, end;  // addresses
    uint64_t id;
  };
  BufferOffer() = default;
  Status offer_descriptors(const BufferOrigin& origin);
  Status offer_legacy(const BufferOrigin& origin);
  Status remember_parts(const BufferOrigin& origin);
  void decline(const std::string& reason);
  void release();

  std::shared_ptr<const CudaDevice> device_;
  BufferRecord record_ = {};
  std::vector<Part> parts_;  // in address order
  std::vector<cu::MemHandle> handles_;
};

}  // namespace purlin
