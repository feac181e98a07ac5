#include "program/finish.h"

#include <fmt/format.h>

#include "program/cubin.h"

namespace purlin {
namespace {

Status check_abi(const ProgramRequest& request, const CubinFacts& facts) {
  for (const auto& global : request.abi_globals) {
    const auto found = facts.globals.find(global);
    if (found == facts.globals.end())
      return Status(
          PURLIN_LINK_ERROR,
          fmt::format("no image of program '{}' defines the global '{}' that tells its device "
                      "ABI; rebuild the plugin with the current atom.cuh",
                      request.name, global));
    if (found->second != PURLIN_ATOM_DEVICE_ABI)
      return Status(
          PURLIN_LINK_ERROR,
          fmt::format("'{}' of program '{}' says device ABI {}, this Purlin links device ABI "
                      "{}; rebuild the plugin, or use the Purlin it was made for",
                      global, request.name, found->second, PURLIN_ATOM_DEVICE_ABI));
  }
  return {};
}

}  // namespace

Result<ProgramHandle> finish_program(const ProgramRequest& request, const Digest& digest,
                                     ProgramOrigin origin, CudaRelease linker,
                                     std::vector<std::byte> cubin, ProgramTrace& trace) {
  auto facts = read_cubin(cubin);
  if (!facts) return facts.status().with_context(fmt::format("program '{}'", request.name));
  PURLIN_RETURN_IF_ERROR(check_abi(request, *facts));
  auto program = std::make_shared<Program>();
  program->name = request.name;
  program->digest = digest;
  program->linker = linker;
  program->origin = origin;
  program->cubin = std::move(cubin);
  program->kernels = std::move(facts->kernels);
  for (const auto& wanted : request.kernels) {
    const KernelResources* kernel = program->kernel(wanted);
    if (kernel == nullptr) {
      std::string others;
      for (const auto& other : program->kernels) others += " " + other.name;
      return Status(PURLIN_LINK_ERROR,
                    fmt::format("program '{}' has no kernel '{}', its kernels are:{}", request.name,
                                wanted, others.empty() ? " none" : others));
    }
    if (kernel->registers > register_limit(request.threads))
      return Status(
          PURLIN_LINK_ERROR,
          fmt::format("kernel '{}' of program '{}' uses {} registers a thread, a CTA of {} "
                      "threads has {}; lower the thread count in the policy",
                      wanted, request.name, kernel->registers, request.threads,
                      register_limit(request.threads)));
    if (kernel->local_bytes > 0)
      trace.add(fmt::format("kernel '{}' keeps {} bytes a thread in local memory", wanted,
                            kernel->local_bytes));
  }
  return ProgramHandle(std::move(program));
}

}  // namespace purlin
