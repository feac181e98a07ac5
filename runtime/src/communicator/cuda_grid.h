// How many CTAs a launch gets: what the policy wants, within what the device keeps resident.
#pragma once

#include <array>

#include "communicator/cuda_programs.h"
#include "communicator/launch.h"
#include "device/budget.h"
#include "policy/choose.h"
#include "rendezvous/rendezvous.h"

namespace purlin {

// What a policy asks for at most, over all its calls.
struct CtaWish {
  unsigned throughput = 1;  // all roles of one launch
  unsigned budget = 0;      // of the caller or the policy; 0: from the device
};

// Bounds of one rank's grids. Latency programs let the next one begin early, so two are resident.
struct CtaLimits {
  unsigned latency = 1;
  unsigned throughput = 1;
  unsigned claimed() const { return std::max(2 * latency, throughput); }
};

// `local_ranks` ranks share the device.
CtaLimits cta_limits(const CudaDevice& device, unsigned local_ranks, const CtaWish& wish);

// Collective: the least of all ranks' bounds, so that grids are the same on all of them.
Result<CtaLimits> agree_on_limits(const CtaLimits& mine, Rendezvous& rendezvous);

// WireFacts::least_chunks of n ranks whose launches have so many CTAs: with more chunks to a pair, CTAs
// would have several short ones one after another, with fewer they would have none.
uint32_t least_chunks_for(unsigned ctas, unsigned nranks);

// CTAs of the roles stage, reduce, gather; 0 for roles that the call has not.
struct Ctas {
  std::array<uint32_t, 3> roles{};
  unsigned total() const { return roles[0] + roles[1] + roles[2]; }
};

// The grid of packets for a call: a thread for every 8 bytes of the longest pair, within the limit, and of the
// shapes that do it the one with the fewest threads a CTA, at most `most_threads`.
struct LatencyGrid {
  unsigned ctas = 1;
  unsigned threads = 0;
};
LatencyGrid latency_grid(const Launch& call, unsigned most_threads, const CtaLimits& limits);

// The choice's split, scaled down to the limit and the choice's own budget, each role at least one.
// PURLIN_UNSUPPORTED where not even that fits.
Result<Ctas> throughput_ctas(const snac::Form& form, const policy::Choice& choice,
                             const CtaLimits& limits);

// CTAs of every stream of a launch of messages: as many as divide the slots and fit the limit together.
// PURLIN_UNSUPPORTED where not even one for each stream fits.
Result<uint32_t> ctas_per_stream(uint32_t streams, uint32_t slots, const CtaLimits& limits);

// The program of one kernel for a form and the constants of a call. A call whose own input is scaled
// (PURLIN_PREMUL_SUM) says so in `scaled`; its constants hold the operation that combines.
ProgramNeed need_of(ProtocolKernel kernel, const snac::Form& form,
                    const purlin_constants& constants, bool scaled);

}  // namespace purlin
