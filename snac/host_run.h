// Runs one call of one host rank to its end on the calling thread.
#pragma once

#include "snac/call.h"
#include "snac/host_env.h"

namespace purlin::snac {

// What a host rank brings to a call. All pointers outlive the call; nothing is owned.
struct HostCall {
  const Form* form = nullptr;
  const CallParams* params = nullptr;
  const purlin_host_atom* atom = nullptr;
  const purlin_constants* constants = nullptr;
  HostPatience patience;
  const PeerLeft* peer_left = nullptr;
  u64 epoch = 0;
};

// False: the rank stopped; its Control holds the record. On true all of own output is written and
// peers may still be reading own staging, but no window of this rank's.
bool run_latency(const HostCall& call);
bool run_throughput(const HostCall& call);
bool run_switch(const HostCall& call);

}  // namespace purlin::snac
