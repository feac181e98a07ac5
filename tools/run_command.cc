#include "tools/run_command.h"

#include <algorithm>
#include <memory>

#include "purlin/purlin.h"
#include "tools/job.h"

namespace purlin::tools {
namespace {

constexpr const char* kExamples =
    R"(Usage: purlin run -n N [OPTIONS] -- COMMAND [ARGUMENTS]

Each rank finds in its environment PURLIN_RANK and PURLIN_NRANKS, RANK and
WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE, and PURLIN_UNIQUE_ID, the secret by
which the ranks meet; purlin_comm_create with nranks 0 reads them. Rank 0 gets this
command's standard input, the others none. Output appears a line at a time.

SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are passed on to all ranks.
The first rank that fails ends the job: the others get SIGTERM and, after the grace
time, SIGKILL. Nothing that a rank has started outlives the job.

Exit status: 0 when all ranks ended with 0, else that of the first rank that failed
(128 + N when signal N killed it), 124 after --timeout, 127 when the command is not
found.

Examples:
  purlin run -n 4 -- ./my_program --steps 100
  purlin run -n 2 -- purlin perf all_reduce --check
  purlin run -n 8 --timeout 600 -- python train.py)";

void run(const JobOptions& options) {
  if (options.command.empty())
    throw CLI::ValidationError("purlin run", "no command given: -- and a program must follow");
  // Leaves with the job's status in every case: 0 is no error to CLI11 either.
  throw CLI::RuntimeError(run_job(options));
}

}  // namespace

std::vector<std::string> take_command_to_run(int& argc, char** argv) {
  if (argc < 2 || argv[1] != std::string("run")) return {};
  char** const end = argv + argc;
  char** const dashes = std::find(argv + 2, end, std::string("--"));
  if (dashes == end) return {};
  argc = static_cast<int>(dashes - argv);
  return {dashes + 1, end};
}

void add_run_command(CLI::App& app, std::vector<std::string> command_to_run) {
  CLI::App* run_app = app.add_subcommand("run", "Start a command as several ranks");
  auto options = std::make_shared<JobOptions>();
  options->command = std::move(command_to_run);
  run_app->add_option("-n,--ranks", options->nranks, "Number of ranks")
      ->required()
      ->check(CLI::Range(1, PURLIN_MAX_RANKS));
  run_app->add_flag("--label,!--no-label", options->label,
                    "Put [RANK] before each line of output (on)");
  run_app
      ->add_option("--timeout", options->timeout_seconds,
                   "End the job after this many seconds (never)")
      ->check(CLI::PositiveNumber);
  run_app
      ->add_option("--grace", options->grace_seconds,
                   "Seconds between asking ranks to end and killing them (10)")
      ->check(CLI::NonNegativeNumber);
  run_app->footer(kExamples);
  run_app->callback([options] { run(*options); });
}

}  // namespace purlin::tools
