#include "communicator/cuda_grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "rendezvous/records.h"
#include "snac/throughput.h"

namespace purlin {
namespace {

// Beyond these a latency call gains nothing: at 512 threads one pass moves 128 KiB a pair.
constexpr unsigned kMostLatencyCtas = 32;

// Of a CTA of packets, whatever the Atom's pipeline wants: short calls take the fewest.
constexpr unsigned kLeastLatencyThreads = 128;

// The last threads of a grid write the headers; where they have no packets too, that costs no time.
constexpr unsigned kHeaderThreads = 32;

}  // namespace

CtaLimits cta_limits(const CudaDevice& device, unsigned local_ranks, const CtaWish& wish) {
  unsigned share = budget_share(device, local_ranks, false);
  if (wish.budget != 0) share = std::min(share, wish.budget);
  CtaLimits limits;
  limits.latency = std::clamp(share / 2, 1u, kMostLatencyCtas);
  limits.throughput = std::clamp(wish.throughput, 1u, share);
  return limits;
}

Result<CtaLimits> agree_on_limits(const CtaLimits& mine, Rendezvous& rendezvous) {
  auto all = gather_records(mine, "its grids", rendezvous);
  if (!all) return all.status();
  CtaLimits least = mine;
  for (const CtaLimits& one : *all) {
    least.latency = std::min(least.latency, one.latency);
    least.throughput = std::min(least.throughput, one.throughput);
  }
  return least;
}

uint32_t least_chunks_for(unsigned ctas, unsigned nranks) {
  constexpr unsigned kMost = 16;
  return std::clamp(ctas / std::max(1u, nranks - 1), 1u, kMost);
}

LatencyGrid latency_grid(const Launch& call, unsigned most_threads, const CtaLimits& limits) {
  uint64_t longest = snac::longest_pair(call.transformation, call.params);
  longest = std::min(longest, call.params.pair_limit);
  unsigned most = limits.latency;
  if (call.choice->cta_budget.value != 0) most = std::min(most, call.choice->cta_budget.value);
  const uint64_t packets = snac::divide_up(longest, 8);
  unsigned threads = std::min(kLeastLatencyThreads, most_threads);
  while (2 * threads <= most_threads && packets > uint64_t{most} * threads) threads *= 2;
  const uint64_t wanted = snac::divide_up(packets + kHeaderThreads, threads);
  return {static_cast<unsigned>(std::clamp<uint64_t>(wanted, 1, most)), threads};
}

Result<Ctas> throughput_ctas(const snac::Form& form, const policy::Choice& choice,
                             const CtaLimits& limits) {
  const uint32_t wanted[] = {choice.stage_ctas.value, choice.reduce_ctas.value,
                             choice.gather_ctas.value};
  Ctas ctas;
  unsigned roles = 0;
  for (uint32_t role = 0; role < 3; ++role) {
    if (!snac::has_role(form, static_cast<snac::Role>(role))) continue;
    ctas.roles[role] = std::max(1u, wanted[role]);
    ++roles;
  }
  unsigned most = limits.throughput;
  if (choice.cta_budget.value != 0) most = std::min(most, choice.cta_budget.value);
  if (most < roles)
    return Status(PURLIN_UNSUPPORTED,
                  fmt::format("a call of {} roles needs a CTA for each, and {} may be resident for "
                              "this rank; raise cta_budget, or put fewer ranks on the GPU",
                              roles, most));
  const unsigned total = ctas.total();
  if (total <= most) return ctas;
  for (uint32_t& count : ctas.roles)
    if (count != 0) count = std::max(1u, count * most / total);
  while (ctas.total() > most) --*std::max_element(ctas.roles.begin(), ctas.roles.end());
  return ctas;
}

Result<uint32_t> ctas_per_stream(uint32_t streams, uint32_t slots, const CtaLimits& limits) {
  if (streams > limits.throughput)
    return Status(PURLIN_UNSUPPORTED,
                  fmt::format("messages to and from {} ranks need a CTA each, and {} may be resident "
                              "for this rank; raise cta_budget, send in smaller groups, or put fewer "
                              "ranks on the GPU",
                              streams, limits.throughput));
  uint32_t ctas = std::min(slots, limits.throughput / streams);
  while (slots % ctas != 0) --ctas;
  return ctas;
}

ProgramNeed need_of(ProtocolKernel kernel, const snac::Form& form,
                    const purlin_constants& constants, bool scaled) {
  ProgramNeed need;
  need.kernel = kernel;
  need.constants.form = form;
  need.constants.nranks = constants.nranks;
  need.constants.dtype = static_cast<purlin_dtype>(constants.dtype);
  need.constants.op = scaled ? PURLIN_PREMUL_SUM : static_cast<purlin_op>(constants.op);
  need.constants.stages = constants.stages;
  need.constants.stage_bytes = constants.stage_bytes;
  need.constants.threads = kernel == ProtocolKernel::kLatency
                               ? latency_threads(constants.nranks, scaled)
                               : constants.threads;
  return need;
}

}  // namespace purlin
