// How long an operation may take, and whether somebody called it off.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace purlin {

// Instants are nanoseconds of CLOCK_MONOTONIC, which all processes of a machine share.
inline uint64_t monotonic_now() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

class Limit {
 public:
  // Longest single sleep: waits look at `cancelled` and at lost peers between sleeps.
  static constexpr int kSliceMs = 20;

  // `stop` is a word of memory that other processes may write; nonzero, it calls off too.
  Limit(std::chrono::milliseconds timeout, const std::atomic<bool>* cancelled,
        const uint32_t* stop = nullptr)
      : timeout_(timeout),
        deadline_(monotonic_now() + static_cast<uint64_t>(timeout.count()) * 1'000'000u),
        cancelled_(cancelled),
        stop_(stop) {}

  std::chrono::milliseconds timeout() const { return timeout_; }
  uint64_t deadline() const { return deadline_; }
  bool passed() const { return monotonic_now() >= deadline_; }
  bool cancelled() const {
    return stopped() || (cancelled_ && cancelled_->load(std::memory_order_relaxed));
  }
  // Whether there is a stop word, and what it says.
  bool can_be_stopped() const { return stop_ != nullptr; }
  bool stopped() const { return stop_ && __atomic_load_n(stop_, __ATOMIC_ACQUIRE) != 0; }

  // Milliseconds for poll(): up to the deadline, rounded up, at most a slice.
  int slice_ms() const {
    const uint64_t now = monotonic_now();
    if (now >= deadline_) return 0;
    return static_cast<int>(std::min<uint64_t>((deadline_ - now) / 1'000'000u + 1, kSliceMs));
  }

  // Not later than a peer's deadline. One that has passed belongs to another clock (a time
  // namespace) and is ignored: a peer whose limit is over would have gone.
  void not_after(uint64_t deadline) {
    if (deadline > monotonic_now()) deadline_ = std::min(deadline_, deadline);
  }

  // Earlier by a tenth of the timeout, at most half a second: whoever gathers gives its verdict
  // before the others give up.
  uint64_t verdict_at() const {
    const auto tenth = static_cast<uint64_t>(timeout_.count()) * 100'000u;
    const uint64_t margin = std::min<uint64_t>(tenth, 500'000'000u);
    return deadline_ > margin ? deadline_ - margin : 0;
  }
  bool verdict_due() const { return monotonic_now() >= verdict_at(); }

 private:
  std::chrono::milliseconds timeout_;
  uint64_t deadline_;
  const std::atomic<bool>* cancelled_;
  const uint32_t* stop_;
};

}  // namespace purlin
