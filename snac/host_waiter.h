// How a host rank waits: it spins, then yields, then sleeps on a futex in its own memory, and never
// longer than until a stop, the time limit or the peer's departure.
#pragma once

#include <chrono>
#include <functional>

#include "snac/atomic.h"
#include "snac/header.h"

namespace purlin::snac {

// What a waiting host rank does before it yields and before it sleeps. Counts of polls.
struct HostPatience {
  u32 spins = 4000;
  u32 yields = 200;
};

// Asked now and then by a rank that waits: whether `peer` has left for good, so that what has not
// arrived never will. May be empty.
using PeerLeft = std::function<bool(u32 peer)>;

// Leaves `record` in the Control of `rank` (the first one wins), then stops that rank and all
// peers. From any thread.
void stop_ranks(Control* controls, u32 nranks, u32 rank, const StopRecord& record);

// Base of the environments of host ranks; a wait asks them, now and then, what only they know. All
// pointers outlive it; one object serves one call on one thread.
class HostWaiter {
 public:
  HostWaiter(Control* controls, u32 nranks, u32 rank, u64 timeout_ns, HostPatience patience,
             const PeerLeft* peer_left)
      : controls_(controls),
        ranks_(nranks),
        rank_(rank),
        timeout_ns_(timeout_ns),
        patience_(patience),
        peer_left_(peer_left) {}

  bool stopped() const { return load_relaxed(control(rank_)->stop) != 0; }

  // Calls `poll` until it returns true; false when the rank must stop.
  template <class Poll>
  bool wait(Poll poll, Site site) {
    for (u32 i = 0; i < patience_.spins; ++i) {
      if (poll()) return go_on(site);
      relax();
      if (i % 64 == 63 && !go_on(site)) return false;
    }
    return wait_slowly(poll, site);
  }

  // Wakes `peer` if it sleeps. Missing a peer that is just falling asleep is harmless: sleeps are
  // short.
  void ring(u32 peer);

  // Records why this rank stops (the first reason wins), stops itself and tells all peers.
  void stop(const StopRecord& record) { stop_ranks(controls_, ranks_, rank_, record); }

 protected:
  ~HostWaiter() = default;

  // Whether what `peer` has said contradicts own call; this rank is stopped then.
  virtual bool disagrees(u32 peer) = 0;
  // Why nothing more will come from `peer` after `waited_ns`, beyond what this class sees, or
  // kNone. Asked before a last poll.
  virtual StopKind in_vain(u32 peer, u64 waited_ns) = 0;
  virtual StopRecord record_at(StopKind kind, Site site) = 0;

  Control* control(u32 rank) const { return controls_ + rank; }

 private:
  template <class Poll>
  bool wait_slowly(Poll poll, Site site) {
    const auto begin = std::chrono::steady_clock::now();
    for (u32 round = 0;; ++round) {
      if (poll()) return go_on(site);
      if (!go_on(site) || (site.peer != rank_ && disagrees(site.peer))) return false;
      // Asked before the last poll: what a peer sent before it left is there by then.
      const StopKind hopeless = hopeless_because(site.peer, begin);
      if (hopeless != StopKind::kNone) {
        if (poll()) return go_on(site);
        stop(record_at(hopeless, site));
        return false;
      }
      if (round < patience_.yields)
        yield();
      else if (sleep_unless(poll))
        return go_on(site);
    }
  }
  // Announces the sleep, polls once more, sleeps at most a millisecond. True: the poll succeeded.
  template <class Poll>
  bool sleep_unless(Poll poll) {
    const u32 seen = prepare_sleep();
    const bool arrived = poll();
    if (!arrived && !stopped()) sleep(seen);
    end_sleep();
    return arrived;
  }

  // Whether no stop was asked for; notes where this rank stood if one was.
  bool go_on(Site site) {
    if (!stopped()) return true;
    note_stop(site);
    return false;
  }
  void note_stop(Site site);
  // Why waiting for `peer` any longer is in vain, or kNone.
  StopKind hopeless_because(u32 peer, std::chrono::steady_clock::time_point begin);
  u32 prepare_sleep();
  void sleep(u32 seen);
  void end_sleep();
  static void relax();
  static void yield();

  Control* const controls_;
  const u32 ranks_;
  const u32 rank_;
  const u64 timeout_ns_;
  const HostPatience patience_;
  const PeerLeft* const peer_left_;
};

}  // namespace purlin::snac
