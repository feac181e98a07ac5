#include "tools/prelink_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "tools/ask.h"
#include "tools/exit_codes.h"
#include "tools/prelink_text.h"
#include "tools/progress.h"

namespace purlin::tools {
namespace {

constexpr const char* kExamples =
    R"(Makes every device program that a policy needs, on any machine with a CUDA toolkit;
neither the device nor a driver is needed. Where there is a driver but no linker,
point PURLIN_PROGRAM_PATH at the folder.

Example:
  purlin prelink --device sm_90 -n 8 -o /usr/share/purlin/programs

Exit status: 0 all made, 1 an error, 2 a wrong command line.)";

struct Asked {
  std::string device, policy, folder;
  int jobs = 0, ranks = 0;
  bool json = false, progress = false;
};

void run(const Asked& asked) {
  Progress progress(asked.progress);
  purlin_prelink_options options{};
  options.struct_size = sizeof options;
  options.device = asked.device.c_str();
  options.policy_path = asked.policy.empty() ? nullptr : asked.policy.c_str();
  const std::string folder = std::filesystem::absolute(asked.folder).lexically_normal().string();
  options.output_directory = folder.c_str();
  options.jobs = asked.jobs;
  options.ranks = asked.ranks;
  options.progress = [](void* user, int done, int total, const char* program) {
    static_cast<Progress*>(user)->show(static_cast<uint64_t>(done), static_cast<uint64_t>(total),
                                       program ? program : "");
  };
  options.user = &progress;
  const auto answer = ask([&](char** json) { return purlin_prelink(&options, json); });
  progress.clear();
  if (!answer) give_up("prelink", answer.error(), kExitFailed);
  if (asked.json)
    fmt::print("{}\n", answer->dump(2));
  else
    fmt::print("{}", prelink_text(*answer, folder));
}

}  // namespace

void add_prelink_command(CLI::App& app) {
  CLI::App* prelink =
      app.add_subcommand("prelink", "Make the device programs of a policy beforehand");
  auto asked = std::make_shared<Asked>();
  prelink->add_option("--device", asked->device, "Architecture, there or not: sm_90")->required();
  prelink->add_option("-o,--output", asked->folder, "Folder for the programs")->required();
  prelink->add_option("--policy", asked->policy, "Policy file (found by search for the device)");
  prelink->add_option("-n,--ranks", asked->ranks, "Ranks of a communicator (each number from 2 to 8)")
      ->check(CLI::NonNegativeNumber);
  prelink->add_option("-j,--jobs", asked->jobs, "Programs made at a time (one a processor)")
      ->check(CLI::NonNegativeNumber);
  prelink->add_flag("--json", asked->json, "Print JSON");
  prelink->add_flag("--progress", asked->progress, "Show progress even without a terminal");
  prelink->footer(kExamples);
  prelink->callback([asked] { run(*asked); });
}

}  // namespace purlin::tools
