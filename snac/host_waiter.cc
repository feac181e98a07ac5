#include "snac/host_waiter.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace purlin::snac {
namespace {

long futex(u32* word, int operation, u32 value, const timespec* timeout) {
  // Not FUTEX_PRIVATE: the word may be shared between processes.
  return syscall(SYS_futex, word, operation, value, timeout, nullptr, 0);
}

// Leaves the record unless there is one already.
void leave_record(Control* control, const StopRecord& record) {
  if (!claim(control->claimed)) return;
  control->record = record;
  store_release(control->recorded, 1u);
}

}  // namespace

void HostWaiter::relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#else
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
#endif
}

void HostWaiter::yield() { sched_yield(); }

void HostWaiter::ring(u32 peer) {
  Control* theirs = control(peer);
  if (__atomic_load_n(&theirs->sleeping, __ATOMIC_RELAXED) == 0) return;
  __atomic_fetch_add(&theirs->doorbell, 1, __ATOMIC_RELAXED);
  futex(&theirs->doorbell, FUTEX_WAKE, 1, nullptr);
}

u32 HostWaiter::prepare_sleep() {
  Control* own = control(rank_);
  const u32 seen = __atomic_load_n(&own->doorbell, __ATOMIC_RELAXED);
  __atomic_store_n(&own->sleeping, 1u, __ATOMIC_SEQ_CST);
  return seen;
}

void HostWaiter::sleep(u32 seen) {
  const timespec limit{0, 1'000'000};
  futex(&control(rank_)->doorbell, FUTEX_WAIT, seen, &limit);
}

void HostWaiter::end_sleep() { __atomic_store_n(&control(rank_)->sleeping, 0u, __ATOMIC_RELAXED); }

StopKind HostWaiter::hopeless_because(u32 peer, std::chrono::steady_clock::time_point begin) {
  const u64 waited = static_cast<u64>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin)
          .count());
  if (waited > timeout_ns_) return StopKind::kTimeout;
  if (peer != rank_ && peer_left_ != nullptr && *peer_left_ && (*peer_left_)(peer))
    return StopKind::kPeerLost;
  return peer == rank_ ? StopKind::kNone : in_vain(peer, waited);
}

void HostWaiter::note_stop(Site site) {
  leave_record(control(rank_), record_at(StopKind::kTold, site));
}

void stop_ranks(Control* controls, u32 nranks, u32 rank, const StopRecord& record) {
  leave_record(controls + rank, record);
  for (u32 d = 0; d < nranks; ++d) {
    Control* control = controls + (rank + d) % nranks;
    u32 none = 0;
    __atomic_compare_exchange_n(&control->stop, &none, rank + 1, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
    __atomic_fetch_add(&control->doorbell, 1, __ATOMIC_RELAXED);
    futex(&control->doorbell, FUTEX_WAKE, 1, nullptr);
  }
}

}  // namespace purlin::snac
