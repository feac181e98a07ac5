// A call ready to be carried out by a device: what the communicator hands to its backend.
#pragma once

#include "communicator/call_facts.h"
#include "policy/choose.h"
#include "snac/call.h"
#include "snac/host_env.h"

namespace purlin {

// Owned by the communicator, reused from call to call. Arrays that `params` points to belong to the
// caller of the public API.
struct Launch {
  snac::Transformation transformation;
  snac::Form form;
  snac::CallParams params;
  purlin_constants constants{};
  const policy::Choice* choice = nullptr;
  bool packets = false;  // run the latency protocol
  bool chunks = false;   // run the throughput protocol; both: by pairs
  bool switched = false; // run the switch protocol, and neither of the others
  bool direct = false;   // chunks: consumers read the stagers' input where it lies
  bool alone = false;    // the communicator's first call, again: its peers' part is there
  purlin_stream_t stream = nullptr;
};

}  // namespace purlin
