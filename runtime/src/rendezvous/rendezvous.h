// How the ranks of one machine meet and hand each other blobs and descriptors. docs/rendezvous.md.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "memory/owned_fd.h"
#include "rendezvous/address.h"
#include "rendezvous/liveness.h"
#include "status/status.h"

namespace purlin {

using Blob = std::vector<std::byte>;

struct JoinOptions {
  Address address;
  int rank = 0;
  int nranks = 1;
  // Limit of `join` and of each exchange after it.
  std::chrono::milliseconds timeout{600'000};
  std::string name = "communicator";  // for messages
  // Set from any thread: the running join or exchange ends with PURLIN_ABORTED within 20 ms.
  const std::atomic<bool>* cancelled = nullptr;
  // As `Rendezvous::heed`, from the start.
  const uint32_t* stop = nullptr;
};

// One rank's seat among its peers. The same for ranks that are threads and ranks that are
// processes.
//
// Exchanges are collective: every rank calls the same ones in the same order, each bounded by the
// timeout. After one of them fails all later ones return the same error (except `agree`, whose
// answer is no failure of the exchange). An error names the rank at fault and is the same on all
// ranks that could be told: PURLIN_TIMEOUT (ranks missing), PURLIN_PEER_LOST (a process ended),
// PURLIN_MISMATCH (ranks disagree), PURLIN_SYSTEM_ERROR (a call failed; limits are named).
// A child made by fork owns no seat: PURLIN_INVALID_USAGE.
//
// Thread-safe: exchanges of one object are serialized.
class Rendezvous {
 public:
  // Blocks until all ranks have joined. On failure nothing is left behind.
  static Result<std::unique_ptr<Rendezvous>> join(const JoinOptions& options);
  // `leave`, then closes everything. Never blocks on peers.
  ~Rendezvous();
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  int rank() const;
  int size() const;
  // Random, the same on all ranks, different for each communicator.
  const Identity& identity() const;
  // The pid that the peer has in its own process namespace.
  pid_t process_of(int rank) const;
  bool same_process(int rank) const;
  bool token_used() const;  // false: any process of this user could have joined

  // Each rank's bytes, in rank order; lengths may differ and may be 0.
  Result<std::vector<Blob>> all_gather_blob(std::span<const std::byte> mine);
  // Each rank's descriptors, in rank order, as new descriptors (its own as duplicates). The caller
  // keeps `mine`. Takes nranks² descriptors when ranks are threads: prefer `broadcast_fds`.
  Result<std::vector<std::vector<OwnedFd>>> all_gather_fds(std::span<const int> mine);
  // The root's descriptors on every rank; `mine` is read on the root only.
  Result<std::vector<OwnedFd>> broadcast_fds(int root, std::span<const int> mine);
  // Returns once every rank has called it. Orders all memory accesses before it before those after.
  Status barrier();
  // Ok on every rank if it is ok on every rank; otherwise, on every rank, the code of the lowest
  // rank that failed and its text with "rank R: " in front.
  Status agree(const Status& mine);

  // Collective: closes the connections, so that an idle communicator holds no descriptor. The next
  // exchange connects again by itself.
  Status park();

  // From now on an exchange also ends, with PURLIN_ABORTED within 20 ms, when *stop is nonzero, in
  // place of any word named before. Whoever sets it on one rank sets it on all: a rank whose exchange
  // ended because a peer was stopped returns once its own word is set too. Any thread or process may
  // write the word while exchanges run; it outlives the last of them. Not during an exchange.
  void heed(const uint32_t* stop);

  // Says goodbye: from now on this process's end is no loss. Idempotent; not collective.
  void leave();

  Liveness& liveness();

 private:
  struct State;
  explicit Rendezvous(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace purlin
