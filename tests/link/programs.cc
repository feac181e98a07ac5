#include "link/programs.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <map>

#include "level.h"
#include "program/finish.h"
#include "program/link.h"

namespace purlin {
namespace {

BuiltAtom load(const std::string& name) {
  const std::string path = PURLIN_BINARY_DIR "/lib/purlin/plugins/libatom-" + name + ".so";
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE_MESSAGE(handle != nullptr, dlerror());
  const auto entry = reinterpret_cast<purlin_atom_entry_fn>(dlsym(handle, PURLIN_ATOM_ENTRY_NAME));
  REQUIRE((entry != nullptr));
  BuiltAtom atom;
  atom.descriptor = entry();
  for (uint64_t i = 0; i < atom.descriptor->image_count; ++i) {
    auto image = image_from_atom(atom.descriptor->images[i], name);
    REQUIRE_MESSAGE(image.is_ok(), image.status().message());
    atom.images.push_back(std::move(*image));
  }
  return atom;
}

snac::Form form_with(uint32_t nranks, uint32_t steps, bool reduces) {
  snac::Form form;
  form.steps = steps;
  form.reduces = reduces;
  form.sources = snac::all_ranks(nranks);
  return form;
}

Toolbox& tools() {
  static Toolbox toolbox(default_library_search());
  return toolbox;
}

}  // namespace

bool have_device_code() {
#ifdef PURLIN_HAVE_CUDA
  return true;
#else
  test::skip("built without a CUDA toolkit: there is no device code to link");
  return false;
#endif
}

const BuiltAtom& built_atom(const std::string& name) {
  static std::map<std::string, BuiltAtom> atoms;
  const auto found = atoms.find(name);
  return found != atoms.end() ? found->second : atoms.emplace(name, load(name)).first->second;
}

snac::Form all_reduce_form(uint32_t nranks, bool push) {
  snac::Form form = form_with(nranks, 2, true);
  form.shared[1] = true;
  form.push[0] = form.push[1] = push;
  return form;
}
snac::Form all_gather_form(uint32_t nranks) {
  snac::Form form = form_with(nranks, 1, false);
  form.shared[0] = true;
  return form;
}
snac::Form reduce_scatter_form(uint32_t nranks) { return form_with(nranks, 1, true); }
snac::Form all_to_all_form(uint32_t nranks) {
  snac::Form form = form_with(nranks, 1, false);
  form.push[0] = true;
  return form;
}

ProtocolConstants constants_for(const BuiltAtom& atom, ProtocolKernel kernel,
                                const snac::Form& form, uint32_t nranks, purlin_dtype dtype,
                                purlin_op op) {
  ProtocolConstants constants;
  constants.form = form;
  constants.nranks = nranks;
  constants.dtype = dtype;
  constants.op = op;
  const purlin_atom_limits& limits = *atom.descriptor->limits;
  constants.stages = limits.default_stages;
  constants.stage_bytes = limits.default_stage_bytes;
  constants.threads = kernel == ProtocolKernel::kLatency
                          ? latency_threads(nranks, op == PURLIN_PREMUL_SUM)
                          : usual_threads(limits, nranks);
  return constants;
}

Result<ProgramHandle> link_program(const BuiltAtom& atom, ProtocolKernel kernel,
                                   const ProtocolConstants& constants, uint32_t cc) {
  const auto request = protocol_request(kernel, constants, cc, atom.images);
  if (!request) return request.status();
  const Status sound = check_request(*request);
  if (!sound.is_ok()) return sound;
  ProgramTrace trace;
  auto cubin = link_cubin(*request, tools(), trace);
  if (!cubin) return cubin.status();
  return finish_program(*request, program_digest(*request), ProgramOrigin::kLinked,
                        (*tools().linker())->release(), std::move(*cubin), trace);
}

Result<std::string> ptx_of(const BuiltAtom& atom, ProtocolKernel kernel,
                           const ProtocolConstants& constants, uint32_t cc) {
  const auto request = protocol_request(kernel, constants, cc, atom.images);
  if (!request) return request.status();
  ProgramTrace trace;
  return link_ptx(*request, tools(), trace);
}

}  // namespace purlin
