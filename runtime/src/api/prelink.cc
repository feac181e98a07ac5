// purlin_prelink: makes all programs of a policy and tells what it made as JSON text.
#include "program/prelink.h"

#include <fmt/format.h>

#include <filesystem>

#include "api/answer.h"
#include "api/device_programs.h"
#include "purlin/purlin.h"
#include "status/last_error.h"

namespace purlin {
namespace {

Status check_options(const purlin_prelink_options& options) {
  const auto invalid = [](std::string text) {
    return Status(PURLIN_INVALID_ARGUMENT, std::move(text));
  };
  if (options.struct_size < sizeof options)
    return invalid(fmt::format("purlin_prelink_options.struct_size is {}, expected {}",
                               options.struct_size, sizeof options));
  if (options.device == nullptr)
    return invalid("purlin_prelink_options.device is null; name an architecture like sm_90");
  if (options.output_directory == nullptr || options.output_directory[0] == '\0')
    return invalid(
        "purlin_prelink_options.output_directory is empty; name a folder for the programs");
  if (options.jobs < 0)
    return invalid(
        fmt::format("purlin_prelink_options.jobs is {}; it is the number of programs made "
                    "at a time, 0 for one a processor",
                    options.jobs));
  return {};
}

Result<std::string> prelink_policy(const purlin_prelink_options& options) {
  PURLIN_RETURN_IF_ERROR(check_options(options));
  DeviceProgramsQuery query{options.device, std::nullopt, options.ranks};
  if (options.policy_path != nullptr) query.policy = options.policy_path;
  const auto programs = device_programs(query);
  if (!programs) return programs.status().with_context("prelink");
  PrelinkOptions how;
  std::error_code error;
  how.output_directory =
      std::filesystem::absolute(options.output_directory, error).lexically_normal().string();
  if (error)
    return Status(PURLIN_SYSTEM_ERROR, fmt::format("folder '{}' cannot be made absolute: {}",
                                                   options.output_directory, error.message()));
  how.device = options.device;
  how.policy = programs->policy;
  how.atom = programs->atom;
  how.libraries = default_library_search();
  how.jobs = static_cast<unsigned>(options.jobs);
  if (options.progress != nullptr)
    how.progress = [&options](int done, int total, const std::string& name) {
      options.progress(options.user, done, total, name.c_str());
    };
  return prelink(programs->requests, how);
}

}  // namespace
}  // namespace purlin

extern "C" purlin_status purlin_prelink(const purlin_prelink_options* options, char** json) {
  using purlin::remember;
  if (json == nullptr) return remember(purlin::null_argument("json"));
  *json = nullptr;
  if (options == nullptr) return remember(purlin::null_argument("options"));
  const auto text = purlin::prelink_policy(*options);
  if (!text) return remember(text.status());
  return remember(purlin::give_text(*text, json));
}
