// A page that all ranks of a communicator share: who is a member, who has left, who is lost.
#pragma once

#include <atomic>
#include <cstdint>

#include "memory/shared_memory.h"
#include "rendezvous/liveness.h"
#include "status/status.h"

namespace purlin {

// Made by the hub, adopted by the others. Thread-safe.
class ControlBlock {
 public:
  static constexpr uint64_t kBytes = 4096;

  static Result<ControlBlock> create(int nranks);
  static Result<ControlBlock> adopt(OwnedFd fd, int nranks);

  // The descriptor for the other ranks. The block itself needs it no more.
  OwnedFd take_fd() { return memory_.take_fd(); }

  PeerState state(int rank) const {
    return static_cast<PeerState>(word(rank).load(std::memory_order_acquire));
  }
  // Release: whatever the rank wrote before is seen by those who see the state.
  void mark_left(int rank) const { move_from_member(rank, PeerState::kLeft); }
  // No effect on a rank that has left.
  void mark_lost(int rank) const { move_from_member(rank, PeerState::kLost); }

 private:
  struct Layout;
  explicit ControlBlock(SharedMemory memory) : memory_(std::move(memory)) {}
  std::atomic<uint32_t>& word(int rank) const;
  void move_from_member(int rank, PeerState to) const;

  SharedMemory memory_;
};

}  // namespace purlin
