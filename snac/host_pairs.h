// Carries out the sends and receives of one launch of one host rank on the calling thread.
#pragma once

#include "snac/host_pair_env.h"

namespace purlin::snac {

// What a host rank brings to a launch. All pointers outlive it; nothing is owned.
struct HostPairs {
  const PairParams* params = nullptr;
  const purlin_host_atom* atom = nullptr;
  const purlin_constants* constants = nullptr;
  HostPatience patience;
  const PeerLeft* peer_left = nullptr;
  u64 next_epoch = 0;  // of the collective after this launch
};

// False: the rank stopped; its Control holds the record. On true all that was to be received is
// written, and what was sent is in slots that the receivers may still be reading. Streams go on
// whenever they can, in any order, so messages of one launch never wait for each other but in their
// own stream.
bool run_pairs(const HostPairs& call);

}  // namespace purlin::snac
