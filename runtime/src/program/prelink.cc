#include "program/prelink.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "program/folder.h"
#include "program/program_file.h"

namespace purlin {
namespace {

using Json = nlohmann::ordered_json;
constexpr unsigned kFolderMode = 0755, kFileMode = 0644;

Json describe(const Program& program, const std::string& file) {
  Json kernels = Json::array();
  for (const auto& kernel : program.kernels)
    kernels.push_back({{"name", kernel.name},
                       {"registers", kernel.registers},
                       {"shared_bytes", kernel.shared_bytes},
                       {"local_bytes", kernel.local_bytes},
                       {"code_bytes", kernel.code_bytes}});
  return {{"name", program.name},
          {"file", file},
          {"digest", hex(program.digest)},
          {"linker", cuda_release_text(program.linker)},
          {"cubin_bytes", program.cubin.size()},
          {"kernels", kernels}};
}

}  // namespace

Result<std::string> prelink(std::span<const ProgramRequest> requests,
                            const PrelinkOptions& options) {
  const auto folder = ProgramFolder::create(options.output_directory, Trust::kOwn, kFolderMode);
  if (!folder) return folder.status().with_context("prelink");
  ProgramSources sources;
  sources.libraries = options.libraries;
  sources.jobs = options.jobs;
  ProgramStore store(std::move(sources));
  const auto outcomes = store.get_all(requests, options.progress);
  Json programs = Json::array();
  for (const auto& outcome : outcomes) {
    if (!outcome.program) return outcome.program.status().with_context("prelink");
    const Program& program = **outcome.program;
    const std::string file = program_file_name(program.digest, program.linker);
    PURLIN_RETURN_IF_ERROR(
        folder
            ->write(file, write_program_file(program.digest, program.linker, program.cubin),
                    kFileMode)
            .with_context("prelink"));
    programs.push_back(describe(program, file));
  }
  const Json manifest = {{"device", options.device},
                         {"policy", options.policy},
                         {"atom", options.atom},
                         {"device_abi", PURLIN_ATOM_DEVICE_ABI},
                         {"programs", programs}};
  const std::string text = manifest.dump(2) + "\n";
  PURLIN_RETURN_IF_ERROR(folder->write("manifest.json", std::as_bytes(std::span(text)), kFileMode)
                             .with_context("prelink"));
  return text;
}

}  // namespace purlin
