#include "tools/perf_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <memory>

#include "tools/exit_codes.h"
#include "tools/perf_atom_command.h"
#include "tools/perf_options.h"
#include "tools/perf_session.h"

namespace purlin::tools {
namespace {

constexpr const char* kExamples = R"(Collectives:
  all_reduce all_gather reduce_scatter all_to_all broadcast reduce scatter
  gather barrier send_recv, and with a count for each part: all_gather_v
  reduce_scatter_v all_to_all_v

Examples:
  purlin perf all_reduce -n 8 -b 8 -e 16MiB -d bf16 --check
  purlin perf reduce_scatter -n 8 -e 1MiB -f 16 -d all -o all --check
  purlin perf all_to_all_v -n 8 --skew zipf:0.125 --placement gapped
  purlin run -n 4 -- purlin perf all_gather --json result.json

Size is what NCCL's benchmarks call size: the buffer of all_reduce, the gathered
buffer of all_gather, the whole input of reduce_scatter, one rank's send buffer
of all_to_all. docs/perf.md says what is timed and how.

Exit status: 0 all well, 1 a wrong result or an error, 2 a wrong command line.)";

// False, after saying so, when the file cannot be written.
bool write_json(const std::string& path, const std::string& text) {
  if (path == "-") {
    fmt::print("{}", text);
    return true;
  }
  std::ofstream file(path);
  file << text;
  file.close();
  if (file) return true;
  fmt::print(stderr, "purlin perf: --json: {} cannot be written; check the folder and its mode\n",
             path);
  return false;
}

void run(const PerfArguments& given) {
  const auto options = check_arguments(given, process_environment);
  if (!options) {
    fmt::print(stderr, "purlin perf: {}\nTry `purlin perf --help`.\n", options.error());
    throw CLI::RuntimeError(kExitUsage);
  }
  const bool quiet = options->json == "-";
  const PerfOutput output{[quiet](const std::string& line) {
                            if (quiet) return;
                            fmt::print("{}\n", line);
                            std::fflush(stdout);
                          },
                          [](int rank, const std::string& text) {
                            fmt::print(stderr, "purlin perf: rank {}: {}\n", rank, text);
                          }};
  const PerfResult result = run_perf(*options, output);
  bool well = !result.failed && result.wrong == 0;
  if (!options->json.empty() && !result.json.empty() && !result.failed)
    well = write_json(options->json, result.json) && well;
  if (!well) throw CLI::RuntimeError(kExitFailed);
}

}  // namespace

void add_perf_command(CLI::App& app) {
  CLI::App* perf = app.add_subcommand("perf", "Time a collective and check its results");
  auto given = std::make_shared<PerfArguments>();
  perf->add_option("collective", given->collective, "What to run; or atom, see perf atom --help");
  perf->add_option("-n,--ranks", given->ranks,
                   "Ranks, a thread each (4); under a launcher it decides");
  perf->add_option("-b,--begin", given->begin, "First size (1KiB)");
  perf->add_option("-e,--end", given->end, "Last size (64MiB)");
  perf->add_option("-f,--factor", given->factor, "From one size to the next (2)");
  perf->add_option("-d,--dtype", given->dtypes,
                   "Element types: all, or a list such as f32,bf16 (f32)");
  perf->add_option("-o,--op", given->ops,
                   "Operations of a reduction: all, or a list such as sum,max (sum)");
  perf->add_flag("--in-place", given->in_place, "Use one buffer for both sides");
  perf->add_flag("--check", given->check, "Verify results, guards and send buffers bit for bit");
  perf->add_option("--path", given->path, "auto, latency, throughput or switch (auto)");
  perf->add_option("--policy", given->policy, "Policy file (found by search)");
  perf->add_option("--device", given->device,
                   "Memory of the ranks: host, cuda, or auto (a GPU if there is one)");
  perf->add_flag("--eager", given->eager,
                 "On GPUs: time calls made one by one instead of replayed graphs of 20");
  perf->add_flag("--behind", given->behind,
                 "On GPUs: put an empty kernel before each timed call; its time counts");
  perf->add_option("--root", given->root, "Root of broadcast, reduce, scatter, gather (0)");
  perf->add_option("--skew", given->skew, "Sizes of parts: uniform or zipf:EXPONENT (uniform)");
  perf->add_option("--counts-file", given->counts_file,
                   "Elements of each part: a row of n, or n rows (row r: what r sends)");
  perf->add_flag("--random-counts", given->random_counts, "Random sizes of parts, some empty");
  perf->add_option("--placement", given->placement,
                   "Parts in their buffer: packed, gapped or reversed (packed)");
  perf->add_option("--misalign", given->misalign, "Bytes past an aligned address (0)");
  perf->add_option("--iters", given->iterations, "Calls timed (as many as fit 60 ms, at least 10)");
  perf->add_option("--warmup", given->warmup, "Calls before timing (5)");
  perf->add_option("--seed", given->seed, "Of inputs and random counts (1)");
  perf->add_option("--timeout", given->timeout_seconds, "Seconds to wait for a peer (30)");
  perf->add_option("--ctas", given->ctas, "Most CTAs of a call (what the policy says)");
  perf->add_option("--alone", given->alone,
                   "Run this rank by itself, as profilers and sanitizers want it");
  perf->add_option("--vs", given->versus,
                   "On GPUs: time nccl too, or nccl-sym (symmetric windows)");
  perf->add_option("--nccl", given->nccl, "NCCL's library (libnccl.so.2)");
  perf->add_flag("--registered", given->registered,
                 "Register the buffers, so that peers may reach them in place");
  perf->add_option("--json", given->json, "Write figures to this file; - is standard output");
  perf->add_flag("--progress", given->progress, "Show progress even without a terminal");
  perf->footer(kExamples);
  add_perf_atom_command(*perf);
  perf->callback([perf, given] {
    if (perf->get_subcommands().empty()) run(*given);
  });
}

}  // namespace purlin::tools
