// From a checked call and the policy's choice to a launch.
#pragma once

#include "communicator/launch.h"

namespace purlin {

// Host ranks read their peers' input where it lies from so many bytes of a rank on (below, asking the
// system costs more than staging) up to so large a T (above, output no longer stays in the caches, and
// staging goes past them). Measured: bench/results. Part of the wire: all ranks take the same way.
inline constexpr uint64_t kLeastDirect = 16 * 1024;
inline constexpr uint64_t kMostDirect = 4 * 1024 * 1024;

// What a communicator knows about its wire.
struct WireFacts {
  snac::WireConfig config;
  snac::WireMap map;
  bool checking = true;
  uint64_t timeout_ns = 0;
  const purlin_atom_limits* limits = nullptr;  // of the bound Atom: its defaults
  const purlin_atom_limits* switch_limits = nullptr;  // of the switch's Atom, if one serves
  bool packets = true;         // 16-byte packets arrive whole between all ranks
  uint32_t least_chunks = 1;   // of a pair, so that short calls occupy many CTAs; the same on all ranks
  bool direct = false;         // host ranks may read each other's memory; the same on all ranks
  bool windows = false;        // ranks may offer registered buffers in place; the same on all ranks
  bool kernels_read_counts = false;  // counts_on_device means it: the host cannot read them
  uint64_t pair_limit = 0;     // all_to_all_v: pairs of at most so many bytes use packets
  uint64_t message_limit = 0;  // the same for messages between two ranks
};

// The call in 64 bits, see snac/call.h.
uint64_t describe(const CallFacts& facts);

// The pipeline that a choice asks for; a setting of 0 means the Atom's own default.
void set_pipeline(const policy::Choice& choice, const purlin_atom_limits& limits,
                  purlin_constants* constants);

// All of a launch that depends on the call's buffers, once it is prepared.
void set_buffers(const purlin_call& call, Launch* launch);

// The direction that a choice asks for, as SNAC says it.
snac::Direction direction_of(const policy::Choice& choice);

// Fills `launch` (its params.peers and map are set) for `facts`. Which protocol serves follows from
// the choice and from what every rank knows; PURLIN_UNSUPPORTED when a forced path cannot carry the
// call.
Status prepare_launch(const CallFacts& facts, const policy::Choice& choice, const WireFacts& wire,
                      int nranks, int rank, Launch* launch);

}  // namespace purlin
