// Whether host ranks may read each other's memory where it lies, and reading it.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>

#include "purlin/purlin.h"
#include "rendezvous/rendezvous.h"

namespace purlin {

// By process_vm_readv, also within a process: memory that a peer took back is then an error, not a
// fault. Whether the system lets a process do so depends on its user, containers, security modules
// and namespaces, so it is tried. Thread-safe once made.
class DirectReading {
 public:
  // Collective: every rank reads a secret word of every peer. The same answer on all ranks; an
  // error only when the exchange itself fails.
  static Result<DirectReading> try_out(Rendezvous& rendezvous);

  // Not to be used, because of `reason`.
  static DirectReading none(std::string reason);

  // Why it is not to be used: which rank cannot read which, for instance; empty if all can.
  const std::string& obstacle() const { return obstacle_; }
  // Copies `bytes` bytes at `address` in the process of rank `peer` to `to`: 0, or errno.
  int read(uint32_t peer, void* to, uint64_t address, uint64_t bytes) const;

 private:
  std::array<pid_t, PURLIN_MAX_RANKS> processes_{};
  std::string obstacle_;
};

}  // namespace purlin
