// How a rank on a GPU waits: it polls and, now and then, looks at the stop word and at the clock. What
// ends a wait in vain is recorded once and told to all ranks.
#pragma once

#include "snac/atomic.h"
#include "snac/device_blocks.cuh"

namespace purlin::snac {

// Base of the environments of device code. `Params` has rank, timeout_ns, map, peers and controls.
template <class Params>
class DeviceWaiter : public DeviceBlocks {
 public:
  __device__ explicit DeviceWaiter(const Params& params) : p_(params) {}

  __device__ u32 nranks() const { return static_cast<u32>(purlin_constant_nranks_d2()); }
  // A rank that is told passes it on to its host before its kernel ends: whoever synchronizes and then asks
  // for the error must find it, and the teller's own store to host memory may come later.
  __device__ bool stopped() const {
    const u64 told = load_relaxed(device_control_of(p_, p_.rank)->stop);
    if (told == 0) return false;
    store_release(control_of(p_, p_.rank)->stop, static_cast<u32>(told));
    return true;
  }
  __device__ void ring(u32) {}  // nobody sleeps on a GPU

  // Leaves the record (the first reason wins), stops this rank and, unless it was told to, tells
  // all peers.
  __device__ void stop(const StopRecord& record) {
    leave_record(record);
    if (record.kind == StopKind::kTold) return;
    // Whoever else stops writes another reason: any of them will do.
    PURLIN_NO_UNROLL
    for (u32 r = 0; r < nranks(); ++r) {
      store_release(device_control_of(p_, r)->stop, u64{p_.rank + 1});
      store_release(control_of(p_, r)->stop, p_.rank + 1);
    }
  }

 protected:
  __device__ static u64 now() {
    u64 time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
  }

  // Polls until `poll` says true. Every 4096 polls `go_on(begin)` is asked, with the time of the first
  // such question; when it says no, the wait ends with false.
  template <class Poll, class GoOn>
  __device__ bool wait_until(Poll poll, GoOn go_on) {
    u32 polls = 0;
    u64 begin = 0;
    while (!poll()) {
      if ((++polls & 0xfffu) != 0) continue;
      if (begin == 0) begin = now();
      if (!go_on(begin)) return false;
    }
    return true;
  }

  // Whether `peer` said that it refuses what it was about to do. A look at host memory.
  __device__ bool refused(u32 peer) const {
    return load_relaxed(control_of(p_, peer)->refused) != 0;
  }

  const Params& p_;

 private:
  __device__ void leave_record(const StopRecord& record) {
    if (!claim(device_control_of(p_, p_.rank)->claimed)) return;
    Control* own = control_of(p_, p_.rank);
    own->record = record;
    store_release(own->recorded, 1u);
  }
};

}  // namespace purlin::snac
