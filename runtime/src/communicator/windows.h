// The buffers that a rank registered with a communicator, and where in them a call's bytes lie.
#pragma once

#include <atomic>
#include <map>

#include "communicator/backend.h"
#include "communicator/mapped_window.h"

namespace purlin {

// One rank's registrations. Not thread-safe. The backend outlives them.
class Windows {
 public:
  // Collective: opens a window for own buffer, of at most snac::kMostWindowBytes, and the peers'. The
  // same number on every rank. Memory that cannot be shared is no error; calls on it are staged, and
  // one line to standard error says why. PURLIN_UNSUPPORTED when too many windows are open,
  // PURLIN_MISMATCH when ranks disagree about which are. An error leaves nothing open on this rank.
  Result<uint32_t> open(void* buffer, uint64_t bytes, const std::string& communicator,
                        Backend& backend, Rendezvous& rendezvous);
  // Every rank does so between the same two calls; nobody waits for peers. Own launches have ended.
  Status close(uint32_t number, Backend& backend);

  // Whether any rank's buffer could be shared so far: the same on every rank, and it stays so.
  bool used() const { return used_; }
  // Of the windows that are open, and of those whose own buffer all peers have mapped. From any thread.
  unsigned count() const { return count_; }
  unsigned reachable_count() const { return reachable_count_; }

  // Sets the launch's places: 0 for what does not lie in a window of own that all peers have
  // mapped.
  void name_places(Launch* launch) const;

 private:
  struct Window {
    uint64_t address = 0;  // of own buffer
    uint64_t bytes = 0;
    bool reachable = false;  // by all peers
    std::unique_ptr<WindowMemory> memory;
  };
  uint32_t free_number() const;
  uint64_t place_of(const void* address, uint64_t bytes) const;

  std::map<uint32_t, Window> open_;
  uint32_t last_ = 0;
  std::atomic<unsigned> count_ = 0, reachable_count_ = 0;
  bool used_ = false;
  bool told_ = false;
};

}  // namespace purlin
