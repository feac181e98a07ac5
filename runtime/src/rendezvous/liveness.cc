#include "rendezvous/liveness.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "rendezvous/liveness_record.h"

namespace purlin {

LivenessRecord::LivenessRecord(Roster roster, ControlBlock control)
    : roster_(std::move(roster)), control_(std::move(control)) {}

void LivenessRecord::process_ended(const Identity& process) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  for (int r = 0; r < roster_.size(); ++r) {
    if (roster_.seats[static_cast<size_t>(r)].process != process) continue;
    control_.mark_lost(r);
    if (control_.state(r) != PeerState::kLost) continue;
    lost_ranks_.push_back(r);
    int none = -1;
    lost_.compare_exchange_strong(none, r, std::memory_order_relaxed);
    raise_abort();
    if (callback_) callback_(r);
  }
}

void LivenessRecord::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  abort_word_ = nullptr;
  callback_ = nullptr;
}

void LivenessRecord::set_abort_word(std::atomic<uint32_t>* word, uint32_t value) {
  const std::lock_guard lock(mutex_);
  abort_word_ = word;
  abort_value_ = value;
  if (!lost_ranks_.empty()) raise_abort();
}

void LivenessRecord::on_loss(std::function<void(int rank)> callback) {
  const std::lock_guard lock(mutex_);
  callback_ = std::move(callback);
  if (callback_)
    for (const int rank : lost_ranks_) callback_(rank);
}

void LivenessRecord::raise_abort() {
  if (!abort_word_) return;
  uint32_t zero = 0;
  abort_word_->compare_exchange_strong(zero, abort_value_, std::memory_order_release,
                                       std::memory_order_relaxed);
  // Without the private flag: the word may lie in memory that other processes sleep on.
  ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(abort_word_), FUTEX_WAKE, INT_MAX, nullptr,
            nullptr, 0);
}

Liveness::Liveness(std::shared_ptr<LivenessRecord> record)
    : record_(std::move(record)), lost_(&record_->lost()) {}

PeerState Liveness::state(int rank) const { return record_->control().state(rank); }

std::string Liveness::describe(int rank) const { return record_->roster().describe(rank); }

void Liveness::set_abort_word(std::atomic<uint32_t>* word, uint32_t value) {
  record_->set_abort_word(word, value);
}

void Liveness::on_loss(std::function<void(int rank)> callback) {
  record_->on_loss(std::move(callback));
}

}  // namespace purlin
