#include "tools/perf_options.h"

#include <fmt/format.h>

#include <cmath>

#include "tools/names.h"
#include "tools/nearest.h"
#include "tools/size_text.h"

namespace purlin::tools {
namespace {

constexpr const char* kDefaultBegin = "1KiB";
constexpr const char* kDefaultEnd = "64MiB";

Error wrong(std::string_view option, std::string_view why) {
  return Error{fmt::format("{}: {}", option, why)};
}

bool has_parts(int collective) {
  return takes_counts(collective) || collective == PURLIN_SEND_RECV;
}

Done set_ranks(const PerfArguments& given, const Environment& environment, PerfOptions& options) {
  const auto launched = find_launcher(environment);
  if (!launched) return Error{launched.error()};
  if (given.ranks != -1 && (given.ranks < 1 || given.ranks > PURLIN_MAX_RANKS))
    return wrong("-n", fmt::format("{} ranks were asked for; 1 to {} are possible", given.ranks,
                                   PURLIN_MAX_RANKS));
  if (given.ranks != -1) options.nranks = given.ranks;
  if (!*launched || (given.ranks != -1 && (*launched)->nranks == 1)) return done();
  if (given.ranks != -1 && given.ranks != (*launched)->nranks)
    return wrong("-n", fmt::format("{} ranks were asked for but {} started {}; leave -n out, it "
                                   "belongs to the launcher",
                                   given.ranks, (*launched)->launcher, (*launched)->nranks));
  options.as_processes = true;
  options.launcher = (*launched)->launcher;
  options.rank = (*launched)->rank;
  options.nranks = (*launched)->nranks;
  return done();
}

Done set_sizes(const PerfArguments& given, PerfOptions& options) {
  if (options.collective == PURLIN_BARRIER || options.skew.kind == Skew::Kind::kFile) {
    if (!given.begin.empty() || !given.end.empty())
      return wrong("-b, -e", options.collective == PURLIN_BARRIER
                                 ? "a barrier has no size"
                                 : "the counts file says how much is moved; leave them out");
    options.sizes = {0};
    return done();
  }
  const auto begin = parse_size(given.begin.empty() ? kDefaultBegin : given.begin);
  if (!begin) return wrong("-b", begin.error());
  auto end = parse_size(given.end.empty() ? kDefaultEnd : given.end);
  if (!end) return wrong("-e", end.error());
  if (given.end.empty() && *begin > *end) *end = *begin;
  if (given.begin.empty() && *end < *begin)
    options.sizes = {*end};
  else if (*begin > *end)
    return wrong("-b, -e", fmt::format("the first size, {}, is above the last, {}",
                                       format_size(*begin), format_size(*end)));
  if (given.factor < 2)
    return wrong("-f", fmt::format("the factor is {}; it must be 2 or more", given.factor));
  if (options.sizes.empty()) options.sizes = size_series(*begin, *end, given.factor);
  return done();
}

Done set_skew(const PerfArguments& given, PerfOptions& options) {
  const int ways = !given.skew.empty() + !given.counts_file.empty() + given.random_counts;
  if (ways > 1)
    return wrong("--skew, --counts-file, --random-counts", "at most one of them can be given");
  const bool parts = has_parts(options.collective);
  if ((ways > 0 || !given.placement.empty()) && !parts)
    return wrong("--skew, --counts-file, --random-counts, --placement",
                 fmt::format("{} has parts of one size; all_gather_v, reduce_scatter_v, "
                             "all_to_all_v and send_recv take counts",
                             collective_name(options.collective)));
  if (!given.skew.empty()) {
    auto skew = parse_skew(given.skew);
    if (!skew) return wrong("--skew", skew.error());
    options.skew = *skew;
  }
  if (given.random_counts) options.skew.kind = Skew::Kind::kRandom;
  options.skew.seed = given.seed;
  if (!given.counts_file.empty()) {
    const bool one_row =
        options.collective == PURLIN_ALL_GATHER_V || options.collective == PURLIN_REDUCE_SCATTER_V;
    auto matrix = read_counts(given.counts_file, one_row ? 1 : options.nranks, options.nranks);
    if (!matrix) return wrong("--counts-file", matrix.error());
    options.skew.kind = Skew::Kind::kFile;
    options.skew.file = std::move(*matrix);
  }
  if (given.placement == "gapped")
    options.placement = Placement::kGapped;
  else if (given.placement == "reversed")
    options.placement = Placement::kReversed;
  else if (!given.placement.empty() && given.placement != "packed")
    return wrong("--placement",
                 unknown_word("placement", given.placement, {"packed", "gapped", "reversed"}));
  return done();
}

Done set_operation(const PerfArguments& given, PerfOptions& options) {
  const auto dtypes = parse_dtypes(given.dtypes);
  if (!dtypes) return wrong("-d", dtypes.error());
  options.dtypes = *dtypes;
  options.ops = {PURLIN_SUM};
  const std::string_view name = collective_name(options.collective);
  if (!given.ops.empty() && !reduces(options.collective))
    return wrong("-o", fmt::format("{} copies and has no operation; leave -o out", name));
  if (!given.ops.empty()) {
    const auto ops = parse_ops(given.ops);
    if (!ops) return wrong("-o", ops.error());
    options.ops = *ops;
  }
  if (given.root != -1 && !rooted(options.collective))
    return wrong("--root", fmt::format("{} has no root; leave it out", name));
  if (given.root != -1 && (given.root < 0 || given.root >= options.nranks))
    return wrong("--root", fmt::format("rank {} is asked for; the ranks are 0 to {}", given.root,
                                       options.nranks - 1));
  options.root = given.root == -1 ? 0 : given.root;
  const char* refusal = in_place_refusal(options.collective);
  if (given.in_place && refusal)
    return wrong("--in-place", fmt::format("{} has no in-place form: {}", name, refusal));
  options.in_place = given.in_place;
  return done();
}

Done set_versus(const PerfArguments& given, const Environment& environment, PerfOptions& options) {
  if (given.versus == "nccl")
    options.versus = Versus::kNccl;
  else if (given.versus == "nccl-sym")
    options.versus = Versus::kNcclSymmetric;
  else if (!given.versus.empty())
    return wrong("--vs", unknown_word("peer", given.versus, {"nccl", "nccl-sym"}));
  options.nccl = given.nccl;
  // Purlin's own libnccl.so.2 can be told to carry host ranks; no other can.
  const bool hosts = environment("PURLIN_NCCL_DEVICE") == "host";
  if (options.versus != Versus::kNothing && options.device == PURLIN_DEVICE_HOST && !hosts)
    return wrong(
        "--vs",
        "NCCL works on GPUs only; leave --device host out (Purlin's own libnccl.so.2 carries "
        "host ranks with PURLIN_NCCL_DEVICE=host)");
  return done();
}

Done set_alone(const PerfArguments& given, PerfOptions& options) {
  if (given.alone == -1) return done();
  if (given.alone < 0 || given.alone >= options.nranks)
    return wrong("--alone", fmt::format("rank {} is asked for; the ranks are 0 to {}", given.alone,
                                        options.nranks - 1));
  if (options.as_processes)
    return wrong("--alone", "the ranks must be threads of one process; leave the launcher out");
  if (options.collective == PURLIN_SEND_RECV)
    return wrong("--alone", "messages go on from one call to the next, so no rank can repeat one");
  if (given.registered)
    return wrong("--alone", "buffers are registered by all ranks; leave --registered out");
  if (!given.versus.empty())
    return wrong("--alone", "NCCL cannot run one rank by itself; leave --vs out");
  options.alone = given.alone;
  return done();
}

Done set_rest(const PerfArguments& given, PerfOptions& options) {
  const auto path = parse_path(given.path);
  if (!path) return wrong("--path", path.error());
  options.path = *path;
  if (options.path != PURLIN_PATH_AUTO &&
      (options.collective == PURLIN_SEND_RECV || options.collective == PURLIN_BARRIER))
    return wrong("--path", fmt::format("{} chooses by itself; leave it out",
                                       collective_name(options.collective)));
  if (given.device == "host")
    options.device = PURLIN_DEVICE_HOST;
  else if (given.device == "cuda")
    options.device = PURLIN_DEVICE_CUDA;
  else if (given.device != "auto")
    return wrong("--device", unknown_word("device", given.device, {"auto", "host", "cuda"}));
  options.eager = given.eager;
  options.behind = given.behind;
  if (given.behind && options.device == PURLIN_DEVICE_HOST)
    return wrong("--behind", "host ranks launch no kernels; leave it or --device host out");
  options.registered = given.registered;
  if (given.iterations == 0 || given.iterations < -1)
    return wrong("--iters", "at least one call must be timed");
  options.iterations = given.iterations == -1 ? 0 : static_cast<uint64_t>(given.iterations);
  if (given.warmup < 0) return wrong("--warmup", "the number of calls must not be negative");
  options.warmup = static_cast<uint64_t>(given.warmup);
  if (!std::isfinite(given.timeout_seconds) || given.timeout_seconds < 0.001 ||
      given.timeout_seconds > 4'000'000)
    return wrong("--timeout", fmt::format("{} is not a number of seconds from 0.001 to 4000000",
                                          given.timeout_seconds));
  options.timeout_ms = static_cast<unsigned>(std::lround(given.timeout_seconds * 1000));
  if (given.misalign >= 4096) return wrong("--misalign", "at most 4095 bytes are possible");
  options.misalign = given.misalign;
  options.check = given.check;
  options.progress = given.progress;
  options.seed = given.seed;
  options.ctas = given.ctas;
  options.policy = given.policy;
  options.json = given.json;
  return done();
}

}  // namespace

Outcome<PerfOptions> check_arguments(const PerfArguments& given, const Environment& environment) {
  PerfOptions options;
  const auto collective = parse_collective(given.collective);
  if (!collective) return Error{collective.error()};
  options.collective = *collective;
  // Later steps need what earlier ones set: the number of ranks, then the counts.
  if (Done step = set_ranks(given, environment, options); !step) return Error{step.error()};
  if (Done step = set_operation(given, options); !step) return Error{step.error()};
  if (Done step = set_skew(given, options); !step) return Error{step.error()};
  if (Done step = set_sizes(given, options); !step) return Error{step.error()};
  if (Done step = set_alone(given, options); !step) return Error{step.error()};
  if (Done step = set_rest(given, options); !step) return Error{step.error()};
  if (Done step = set_versus(given, environment, options); !step) return Error{step.error()};
  return options;
}

std::vector<Case> cases_of(const PerfOptions& options) {
  std::vector<Case> cases;
  for (purlin_dtype dtype : options.dtypes) {
    for (purlin_op op : options.ops) {
      for (uint64_t size : options.sizes) {
        Case test;
        test.collective = options.collective;
        test.dtype = dtype;
        test.op = op;
        test.root = options.root;
        test.nranks = options.nranks;
        test.in_place = options.in_place;
        test.placement = options.placement;
        const uint64_t bytes = dtype_bytes(dtype);
        test.count = count_for(options.collective, size, options.nranks, bytes);
        if (has_parts(options.collective))
          test.counts = counts_for(options.collective, options.skew, size, options.nranks, bytes);
        cases.push_back(std::move(test));
      }
    }
  }
  return cases;
}

}  // namespace purlin::tools
