#include "tools/check/check_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "tools/check/check.h"
#include "tools/exit_codes.h"

namespace purlin::tools {
namespace {

constexpr const char* kExamples =
    R"(Tries a plugin against the numbered requirements of docs/atom-authoring.md, each in
a process of its own: a crash or a hang is a finding. A host Atom is run on CPU
ranks. An Atom for GPUs is linked for every device that it declares, and run on the
first GPU of this machine (CUDA_VISIBLE_DEVICES picks another).

Examples:
  purlin check build/libatom-vendor-host.so
  purlin check plugins/vendor-x --json        a folder with atom.yaml
  purlin check libatom-x.so --only 14,16 --seed 7 --full

Exit status: 0 nothing failed, 1 something did, 2 a wrong command line.)";

struct Asked {
  std::string path;
  uint64_t seed = 1;
  bool full = false, json = false;
  double limit = 60;
  std::vector<int> only;
};

void run(const Asked& asked) {
  check::CheckOptions options;
  options.path = std::filesystem::absolute(asked.path).lexically_normal().string();
  while (options.path.size() > 1 && options.path.back() == '/') options.path.pop_back();
  options.seed = asked.seed;
  options.full = asked.full;
  options.limit_seconds = asked.limit;
  options.only.insert(asked.only.begin(), asked.only.end());
  const check::CheckReport report = check::check_plugin(options);
  if (asked.json)
    fmt::print("{}\n",
               check_json(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  else
    fmt::print("{}", check_text(report));
  if (report.count(check::State::kFailed) != 0) throw CLI::RuntimeError(kExitFailed);
}

}  // namespace

void add_check_command(CLI::App& app) {
  CLI::App* check = app.add_subcommand("check", "Try a plugin against the requirements on an Atom");
  auto asked = std::make_shared<Asked>();
  check->add_option("plugin", asked->path, "libatom-NAME.so, or a folder with atom.yaml")
      ->required();
  check->add_option("--seed", asked->seed, "Of values, sizes and orders (1)");
  check->add_flag("--full", asked->full, "Many more cases; links for every device");
  check->add_option("--only", asked->only, "Requirements to check: 14,16 (all)")
      ->delimiter(',')
      ->check(CLI::Range(1, static_cast<int>(check::kCount)));
  check->add_option("--timeout", asked->limit, "Seconds for one requirement (60)")
      ->check(CLI::PositiveNumber);
  check->add_flag("--json", asked->json, "Print JSON");
  check->footer(kExamples);
  check->callback([asked] { run(*asked); });
}

}  // namespace purlin::tools
