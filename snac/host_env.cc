#include "snac/host_env.h"

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
  if (__atomic_exchange_n(&control->claimed, 1u, __ATOMIC_ACQ_REL) != 0) return;
  control->record = record;
  __atomic_store_n(&control->recorded, 1u, __ATOMIC_RELEASE);
}

}  // namespace

void HostEnv::relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#else
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
#endif
}

void HostEnv::yield() { sched_yield(); }

void HostEnv::ring(u32 peer) {
  Control* control = control_of(p_, peer);
  if (__atomic_load_n(&control->sleeping, __ATOMIC_RELAXED) == 0) return;
  __atomic_fetch_add(&control->doorbell, 1, __ATOMIC_RELAXED);
  futex(&control->doorbell, FUTEX_WAKE, 1, nullptr);
}

u32 HostEnv::prepare_sleep() {
  Control* control = control_of(p_, p_.rank);
  const u32 seen = __atomic_load_n(&control->doorbell, __ATOMIC_RELAXED);
  __atomic_store_n(&control->sleeping, 1u, __ATOMIC_SEQ_CST);
  return seen;
}

void HostEnv::sleep(u32 seen) {
  const timespec limit{0, 1'000'000};
  futex(&control_of(p_, p_.rank)->doorbell, FUTEX_WAIT, seen, &limit);
}

void HostEnv::end_sleep() {
  __atomic_store_n(&control_of(p_, p_.rank)->sleeping, 0u, __ATOMIC_RELAXED);
}

StopKind HostEnv::hopeless_because(u32 peer, std::chrono::steady_clock::time_point begin) const {
  const u64 waited = static_cast<u64>(std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::steady_clock::now() - begin).count());
  if (waited > p_.timeout_ns) return StopKind::kTimeout;
  if (peer != p_.rank && peer_left_ != nullptr && *peer_left_ && (*peer_left_)(peer))
    return StopKind::kPeerLost;
  if (waited > kRefusalGraceNs &&
      __atomic_load_n(&control_of(p_, peer)->refused, __ATOMIC_ACQUIRE) == epoch_)
    return StopKind::kRefused;
  return StopKind::kNone;
}

StopRecord HostEnv::record_at(StopKind kind, Site site) const {
  StopRecord record;
  record.kind = kind;
  record.rank = p_.rank;
  record.peer = site.peer;
  record.step = site.step;
  record.epoch = epoch_;
  record.chunk = site.chunk;
  record.expected_call = p_.descriptor;
  return record;
}

void HostEnv::note_stop(Site site) {
  leave_record(control_of(p_, p_.rank), record_at(StopKind::kTold, site));
}

bool HostEnv::disagrees(u32 peer) {
  if (peer == p_.rank) return false;
  bool agrees = true;
  header_arrived(*this, p_, epoch_, peer, &agrees);
  return !agrees;
}

void HostEnv::stop(const StopRecord& record) { stop_ranks(p_.controls, p_.nranks, p_.rank, record); }

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
