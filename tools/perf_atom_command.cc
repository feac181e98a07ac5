#include "tools/perf_atom_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <memory>

#include "tools/atom_bench/bench.h"
#include "tools/exit_codes.h"

namespace purlin::tools {
namespace {

constexpr const char* kExamples = R"(Examples:
  purlin perf atom --atom hopper,generic --ctas 8,16,32
  purlin perf atom --op reduce --sources 8 --dtype bf16 --stages 2,4,8
  purlin perf atom --peer 1 --direction push --json push.json

GB/s counts the bytes read. "in flight" is CTAs x stages x stage bytes, "needed" what
that bandwidth takes at the measured time of a load: bandwidth x delay. "plain" is
vector code of the same CTAs (copies, and sums of f32).

Exit status: 0 all well, 1 a wrong result or an error, 2 a wrong command line.)";

void run(const AtomBenchArguments& given) {
  const auto options = check_arguments(given);
  if (!options) {
    fmt::print(stderr, "purlin perf atom: {}\nTry `purlin perf atom --help`.\n", options.error());
    throw CLI::RuntimeError(kExitUsage);
  }
  const auto measured = bench_atom(*options, [](const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
  });
  if (!measured) {
    fmt::print(stderr, "purlin perf atom: {}\n", measured.error());
    throw CLI::RuntimeError(kExitFailed);
  }
  if (options->json.empty()) return;
  std::ofstream file(options->json);
  file << measured->dump(1) << '\n';
  file.close();
  if (file) return;
  fmt::print(stderr,
             "purlin perf atom: --json: {} cannot be written; check the folder and its mode\n",
             options->json);
  throw CLI::RuntimeError(kExitFailed);
}

}  // namespace

void add_perf_atom_command(CLI::App& perf) {
  CLI::App* atom = perf.add_subcommand("atom", "Time one Atom over plain memory of a GPU");
  auto given = std::make_shared<AtomBenchArguments>();
  atom->add_option("--op", given->op, "copy or reduce (copy)");
  atom->add_option("--atom", given->atoms, "Atoms, a list (what the policy chooses)");
  atom->add_option("--ctas", given->ctas, "A list (1,2,4,8,16,32,64,132)");
  atom->add_option("--stages", given->stages, "A list (the Atom's own)");
  atom->add_option("--stage-bytes", given->stage_bytes, "A list of sizes (the Atom's own)");
  atom->add_option("--chunk", given->chunk, "Bytes of a segment (128KiB)");
  atom->add_option("--bytes", given->bytes, "Bytes of the output (256MiB)");
  atom->add_option("--sources", given->sources, "Sources of a reduction, 2 to 16 (2)");
  atom->add_option("--dtype", given->dtype, "Element type of a reduction (f32)");
  atom->add_option("--reduction", given->device_op, "sum, prod, min, max or avg (sum)");
  atom->add_flag("--drain", given->drain, "Empty the pipeline between segments");
  atom->add_option("--direction", given->direction,
                   "With --peer: pull its memory, or push into it (pull)");
  atom->add_option("--ordinal", given->device, "The GPU (0)");
  atom->add_option("--peer", given->peer, "Another GPU, whose memory is the other side");
  atom->add_option("--policy", given->policy, "Policy file (found by search)");
  atom->add_option("--iters", given->iterations, "Launches timed, of which the median counts (10)");
  atom->add_option("--seed", given->seed, "Of the inputs (1)");
  atom->add_option("--json", given->json, "Write figures to this file");
  atom->footer(kExamples);
  atom->callback([given] { run(*given); });
}

}  // namespace purlin::tools
