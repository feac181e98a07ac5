#include "program/link.h"

#include <fmt/format.h>

#include "program/link_failure.h"

namespace purlin {
namespace {

// Everything nvJitLink gets; owns the constants' LTO-IR.
struct Prepared {
  std::shared_ptr<const NvJitLink> linker;
  std::vector<std::byte> constants;
  std::vector<LinkInput> inputs;
};

Result<Prepared> prepare(const ProgramRequest& request, Toolbox& tools, ProgramTrace& trace) {
  Prepared out;
  auto linker = tools.linker();
  if (!linker) return linker.status();
  out.linker = *linker;
  for (const auto& image : request.images) {
    PURLIN_RETURN_IF_ERROR(
        check_linker(out.linker->release(), out.linker->path(), image.compiler, describe(image)));
    const bool cubin = image.kind == PURLIN_IMAGE_CUBIN;
    if (cubin) trace.add(fmt::format("{} links as it is: it is not inlined", describe(image)));
    out.inputs.push_back(
        {cubin ? LinkInput::What::kCubin : LinkInput::What::kFatbin, image.name, image.bytes});
  }
  if (request.constants.empty()) return out;
  auto compiler = tools.compiler();
  if (!compiler) return compiler.status();
  PURLIN_RETURN_IF_ERROR(check_linker(out.linker->release(), out.linker->path(),
                                      (*compiler)->release(),
                                      "the constants, by " + (*compiler)->path() + ","));
  const auto source = constants_source(request.constants);
  if (!source) return source.status();
  auto constants = (*compiler)->compile(*source, "purlin_constants.cu");
  if (!constants) return constants.status();
  out.constants = std::move(*constants);
  out.inputs.push_back({LinkInput::What::kLtoIr, "constants", out.constants});
  return out;
}

std::string context(const ProgramRequest& request) {
  return fmt::format("program '{}' for {}", request.name,
                     target_for(request.cc, request.images).name());
}

}  // namespace

Result<std::vector<std::byte>> link_cubin(const ProgramRequest& request, Toolbox& tools,
                                          ProgramTrace& trace) {
  auto prepared = prepare(request, tools, trace);
  if (!prepared) return prepared.status().with_context(context(request));
  auto cubin = prepared->linker->link(prepared->inputs, link_options(request));
  if (!cubin) return cubin.status().with_context(context(request));
  return cubin;
}

Result<std::string> link_ptx(const ProgramRequest& request, Toolbox& tools, ProgramTrace& trace) {
  auto prepared = prepare(request, tools, trace);
  if (!prepared) return prepared.status().with_context(context(request));
  auto ptx = prepared->linker->link_to_ptx(prepared->inputs, link_options(request));
  if (!ptx) return ptx.status().with_context(context(request));
  return ptx;
}

}  // namespace purlin
