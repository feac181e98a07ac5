// The environment in which send and receive run on the host.
#pragma once

#include "snac/host_blocks.h"
#include "snac/host_waiter.h"
#include "snac/pairwise.h"

namespace purlin::snac {

class HostPairEnv : public HostBlocks, public HostWaiter {
 public:
  using Params = PairParams;

  // All references must outlive the env, which serves one launch on one thread. `next_epoch` is
  // that of the collective after this launch.
  HostPairEnv(const PairParams& params, const purlin_host_atom& atom,
              const purlin_constants& constants, HostPatience patience, const PeerLeft* peer_left,
              u64 next_epoch)
      : HostBlocks(atom, constants),
        HostWaiter(params.controls, params.nranks, params.rank, params.timeout_ns, patience,
                   peer_left),
        p_(params),
        next_epoch_(next_epoch) {}

  template <class Poll>
  bool wait(Poll poll, const PairSite& site) {
    site_ = site;
    return HostWaiter::wait(poll, Site{site.peer, static_cast<u32>(site.side), site.chunk});
  }

  // `look` returns false when the rank has to stop; not asked here, since headers come last.
  template <class Look>
  bool receive_block(const Expected& expected, Block& block, Look, const PairSite& site) {
    PacketReader reader(*this, expected, &block);
    return reader.poll() || wait([&] { return reader.poll(); }, site);
  }

  // Whether all lanes say so.
  bool all(bool good) const { return good; }

 private:
  bool disagrees(u32) override { return false; }  // a stream sees that for itself
  StopKind in_vain(u32 peer, u64 waited_ns) override;
  StopRecord record_at(StopKind kind, Site site) override;

  const PairParams& p_;
  const u64 next_epoch_;
  PairSite site_;
  u64 found_call_ = 0;
};

}  // namespace purlin::snac
