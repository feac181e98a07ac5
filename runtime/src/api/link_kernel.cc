// purlin_link_kernel: an application's kernels joined with the Atom of a device.
#include <fmt/format.h>

#include <memory>

#include "api/answer.h"
#include "plugin/choice.h"
#include "plugin/fit.h"
#include "plugin/from_policy.h"
#include "policy/match.h"
#include "policy/search.h"
#include "program/protocol_program.h"
#include "program/select.h"
#include "program/store.h"
#include "purlin/purlin.h"
#include "status/last_error.h"

namespace purlin {
namespace {

// What a purlin_kernel points into.
struct Linked {
  purlin_kernel kernel{};
  ProgramHandle program;
  std::string atom;
};

Status invalid(std::string text) {
  return Status(PURLIN_INVALID_ARGUMENT, "purlin_kernel_request." + std::move(text));
}

Status check_request(const purlin_kernel_request& request) {
  if (request.struct_size < sizeof request)
    return invalid(
        fmt::format("struct_size is {}, expected {}", request.struct_size, sizeof request));
  if (request.device == nullptr) return invalid("device is null; name an architecture like sm_90");
  if (request.images == nullptr || request.image_count == 0)
    return invalid("images is empty; give the LTO-IR of the kernels");
  if (request.kernels == nullptr || request.kernel_count == 0)
    return invalid("kernels is empty; name the kernels that the program must have");
  if (request.nranks < 1 || request.nranks > kDeviceRanks)
    return invalid(fmt::format("nranks is {}, expected 1 to {}", request.nranks, kDeviceRanks));
  if (request.reduces == 0) return {};
  if (request.dtype < 0 || request.dtype >= PURLIN_DTYPE_COUNT)
    return invalid(fmt::format("dtype is {}, expected one of purlin_dtype", request.dtype));
  if (request.op < 0 || request.op >= PURLIN_OP_COUNT)
    return invalid(fmt::format("op is {}, expected one of purlin_op", request.op));
  return {};
}

Result<plugin::BoundAtom> bind(const purlin_kernel_request& request,
                               const purlin_device_facts& facts) {
  const auto found = policy::find_policy(facts, policy::request_of(request.policy_path, nullptr));
  if (!found) return found.status();
  plugin::Selection selection = plugin::selection_from(found->policy);
  if (request.atom != nullptr) selection.prefer = {{request.atom, "purlin_kernel_request.atom"}};
  plugin::Need need;
  need.capabilities = PURLIN_CAP_COPY;
  if (request.reduces != 0) {
    need.capabilities |= PURLIN_CAP_REDUCE;
    need.dtype = request.dtype;
    need.op = request.op;
    need.sources = request.nranks;
  }
  return plugin::choose(plugin::discover(selection, facts), need);
}

// A field of the request within the Atom's limits, or the Atom's own value for 0.
Status settle(const char* name, uint32_t asked, uint32_t least, uint32_t most, uint32_t usual,
              const std::string& atom, uint32_t* value) {
  *value = asked != 0 ? asked : usual;
  if (*value >= least && *value <= most) return {};
  return invalid(fmt::format("{} is {}; Atom {} takes {} to {}", name, asked, atom, least, most));
}

Status settle_pipeline(const purlin_kernel_request& request, const purlin_atom_descriptor& atom,
                       purlin_kernel* kernel) {
  const purlin_atom_limits& limits = *atom.limits;
  const uint32_t sources = request.reduces != 0 ? request.nranks : 1;
  PURLIN_RETURN_IF_ERROR(settle("stages", request.stages, limits.min_stages, limits.max_stages,
                                limits.default_stages, atom.name, &kernel->stages));
  PURLIN_RETURN_IF_ERROR(settle("stage_bytes", request.stage_bytes, limits.min_stage_bytes,
                                limits.max_stage_bytes, limits.default_stage_bytes, atom.name,
                                &kernel->stage_bytes));
  PURLIN_RETURN_IF_ERROR(settle("threads", request.threads, limits.min_threads, limits.max_threads,
                                usual_threads(limits, sources), atom.name, &kernel->threads));
  kernel->shared_bytes = kernel->stages * kernel->stage_bytes + limits.shared_bytes_fixed;
  return {};
}

Result<std::vector<DeviceImage>> images_for(const purlin_kernel_request& request, uint32_t cc,
                                            const purlin_atom_descriptor& atom) {
  std::vector<DeviceImage> own;
  for (uint64_t i = 0; i < request.image_count; ++i) {
    auto image = image_from_atom(request.images[i], "the application");
    if (!image) return image.status();
    own.push_back(*std::move(image));
  }
  auto images = select_images(own, cc, std::nullopt);
  if (!images) return images.status();
  const auto all = plugin::images_of(atom);
  if (!all) return all.status();
  std::optional<purlin_dtype> dtype;
  if (request.reduces != 0) dtype = static_cast<purlin_dtype>(request.dtype);
  auto its = select_images(*all, cc, dtype);
  if (!its) return its.status();
  images->insert(images->end(), its->begin(), its->end());
  return images;
}

Result<std::unique_ptr<Linked>> link(const purlin_kernel_request& request) {
  PURLIN_RETURN_IF_ERROR(check_request(request));
  const auto facts = policy::device_facts_of(request.device);
  if (!facts) return facts.status();
  if (policy::kind_of(*facts) != PURLIN_DEVICE_CUDA)
    return invalid(
        fmt::format("device is '{}'; kernels run on GPUs: name one like sm_90", request.device));
  const auto atom = bind(request, *facts);
  if (!atom) return atom.status();
  auto linked = std::make_unique<Linked>();
  PURLIN_RETURN_IF_ERROR(settle_pipeline(request, *atom->descriptor, &linked->kernel));
  ProgramRequest program;
  program.name = request.kernels[0];
  program.cc = facts->cc_major * 10 + facts->cc_minor;
  auto images = images_for(request, program.cc, *atom->descriptor);
  if (!images) return images.status();
  program.images = *std::move(images);
  program.constants = {{"nranks", request.nranks},
                       {"dtype", request.reduces != 0 ? static_cast<uint64_t>(request.dtype) : 0},
                       {"op", request.reduces != 0 ? static_cast<uint64_t>(request.op) : 0},
                       {"stages", linked->kernel.stages},
                       {"stage_bytes", linked->kernel.stage_bytes},
                       {"threads", linked->kernel.threads}};
  program.threads = linked->kernel.threads;
  program.kernels.assign(request.kernels, request.kernels + request.kernel_count);
  if (request.reduces != 0) program.abi_globals.push_back("purlin_device_abi_reduction");
  ProgramOutcome made = process_store().get(program);
  if (!made.program) return made.program.status();
  linked->program = *made.program;
  linked->atom = atom->descriptor->name;
  purlin_kernel& kernel = linked->kernel;
  kernel.struct_size = sizeof kernel;
  kernel.cubin = linked->program->cubin.data();
  kernel.cubin_bytes = linked->program->cubin.size();
  kernel.atom = linked->atom.c_str();
  return linked;
}

}  // namespace
}  // namespace purlin

extern "C" purlin_status purlin_link_kernel(const purlin_kernel_request* request,
                                            purlin_kernel** out) {
  using purlin::remember;
  if (out == nullptr) return remember(purlin::null_argument("out"));
  *out = nullptr;
  if (request == nullptr) return remember(purlin::null_argument("request"));
  auto linked = purlin::link(*request);
  if (!linked) return remember(linked.status().with_context("purlin_link_kernel"));
  *out = &linked->release()->kernel;  // the object's first member
  return PURLIN_OK;
}

extern "C" void purlin_free_kernel(purlin_kernel* kernel) {
  delete reinterpret_cast<purlin::Linked*>(kernel);
}
