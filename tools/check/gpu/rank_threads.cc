#include "tools/check/gpu/rank_threads.h"

#include <fmt/format.h>

#include <thread>
#include <vector>

#include "tools/plugin_verdict.h"

namespace purlin::tools::check {
namespace {

std::string one_rank(const AtomOnGpu& atom, ThreadHub& hub, const purlin_unique_id& id, int rank,
                     unsigned timeout_ms, const std::function<std::string(GpuRank&)>& body) {
  const auto link = hub.link(rank);
  const auto device = cuda_device(atom.driver(), 0, false);
  if (Done all = link->agree(device ? done() : Done(Error{device.error()})); !all)
    return all.error();
  const std::string policy = policy_for_plugin(atom.subject().path);
  purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
  options.nranks = link->size();
  options.rank = rank;
  options.unique_id = &id;
  options.device_kind = PURLIN_DEVICE_CUDA;
  options.device_ordinal = 0;
  options.policy_text = policy.c_str();
  options.timeout_ms = timeout_ms;
  purlin_comm_t comm = nullptr;
  Done made = done();
  if (purlin_comm_create(&comm, &options) != PURLIN_OK)
    made = Error{fmt::format("the communicator could not be made: {}", purlin_last_error())};
  const Done all = link->agree(made);
  GpuRank self{comm, **device, *link};
  std::string fault = all ? body(self) : all.error();
  if (comm != nullptr && purlin_comm_destroy(comm) != PURLIN_OK && fault.empty())
    fault = fmt::format("the communicator could not be destroyed: {}", purlin_last_error());
  return fault;
}

}  // namespace

std::string run_ranks(const AtomOnGpu& atom, int nranks, unsigned timeout_ms,
                      const std::function<std::string(GpuRank&)>& body) {
  purlin_unique_id id;
  if (purlin_get_unique_id(&id) != PURLIN_OK) return purlin_last_error();
  ThreadHub hub(nranks);
  std::vector<std::string> faults(static_cast<size_t>(nranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < nranks; ++rank)
    threads.emplace_back([&, rank] {
      faults[static_cast<size_t>(rank)] = one_rank(atom, hub, id, rank, timeout_ms, body);
    });
  for (std::thread& thread : threads) thread.join();
  for (int rank = 0; rank < nranks; ++rank)
    if (const std::string& fault = faults[static_cast<size_t>(rank)]; !fault.empty())
      return fmt::format("rank {} of {}: {}", rank, nranks, fault);
  return "";
}

}  // namespace purlin::tools::check
