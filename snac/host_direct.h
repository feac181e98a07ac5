// One step of copies on the host whose consumers read the stager's own input where it lies, rather
// than a copy of it in staging: half the memory traffic. For steps that all consumers read alike.
#pragma once

#include <functional>

#include "snac/host_run.h"

namespace purlin::snac {

// Copies `bytes` bytes at `address` in the process of `peer` to `to`: 0, or errno. The peer may be
// in this process.
using ReadPeer = std::function<int(u32 peer, void* to, u64 address, u64 bytes)>;

// Whether `form` is such a step.
constexpr bool can_read_direct(const Form& form) {
  return form.steps == 1 && !form.reduces && form.shared[0] && !form.push[0];
}

// As run_throughput; all ranks take it for the same call. Flags, acks and headers are those of a
// call of one chunk whose slot holds the input's address. On true no peer reads own input any more.
bool run_direct(const HostCall& call, const ReadPeer& read);

}  // namespace purlin::snac
