// What the watcher thread tells one rank, and where it writes it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "rendezvous/control_block.h"
#include "rendezvous/roster.h"

namespace purlin {

// Shared by a Rendezvous, its Liveness and the watcher. Thread-safe.
class LivenessRecord {
 public:
  LivenessRecord(Roster roster, ControlBlock control);

  const Roster& roster() const { return roster_; }
  const ControlBlock& control() const { return control_; }
  const std::atomic<int>& lost() const { return lost_; }

  // A peer's process has ended: every rank of it that did not leave is lost.
  void process_ended(const Identity& process);

  // Once it has returned, nothing is written and no callback runs any more.
  void close();

  void set_abort_word(std::atomic<uint32_t>* word, uint32_t value);
  void on_loss(std::function<void(int rank)> callback);

 private:
  void raise_abort();  // with the mutex held

  const Roster roster_;
  const ControlBlock control_;
  std::atomic<int> lost_{-1};
  std::mutex mutex_;
  bool closed_ = false;
  std::vector<int> lost_ranks_;
  std::atomic<uint32_t>* abort_word_ = nullptr;
  uint32_t abort_value_ = 0;
  std::function<void(int rank)> callback_;
};

}  // namespace purlin
