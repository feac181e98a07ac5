// Notices that a peer's process is gone. Cheap enough for spinning waits.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace purlin {

enum class PeerState : uint32_t {
  kMember = 0,
  kLeft = 1,  // destroyed its communicator in order; what it sent before is complete
  kLost = 2   // its process ended without that
};

class LivenessRecord;

// What one rank knows of its peers. Words are set by the process's watcher thread, which waits for
// the peers' processes to end; a stopped process has not ended. All functions are thread-safe.
// Ranks of one process are never lost to each other.
class Liveness {
 public:
  explicit Liveness(std::shared_ptr<LivenessRecord> record);

  // The rank that was found lost first, or -1: one relaxed load.
  int lost_rank() const { return lost_->load(std::memory_order_relaxed); }

  // One load of shared memory. A waiter that sees kLeft must look once more at what it waits for
  // (acquire) before it concludes that the peer will never send it.
  PeerState state(int rank) const;

  // "rank 3 (process 4711)".
  std::string describe(int rank) const;

  // Once a peer is lost (at once if one is already), `value` is stored into *word if it is 0
  // (release), and futex sleepers on it are woken. Several ranks may name the same word of shared
  // memory. The word must outlive the Rendezvous or a call with nullptr, which ends this.
  void set_abort_word(std::atomic<uint32_t>* word, uint32_t value);

  // Called on the watcher thread with each rank lost (for those already lost, at once on the
  // calling thread). Must be brief and must not call into Rendezvous or Liveness. An empty function
  // ends it; when the call returns no earlier callback is running.
  void on_loss(std::function<void(int rank)> callback);

 private:
  std::shared_ptr<LivenessRecord> record_;
  const std::atomic<int>* lost_;
};

}  // namespace purlin
