#include "tools/perf_report.h"

#include <fmt/format.h>

#include <fstream>
#include <thread>

#include "tools/names.h"

namespace purlin::tools {
namespace {

// The cells of a line; `peer` and `ratio` are shown when a row is compared with NCCL.
struct Cells {
  std::string size, count, type, op, median, average, peer, ratio, algbw, busbw, wrong;
};

std::string line(const PerfOptions& options, const Cells& cells) {
  if (options.versus != Versus::kNothing)
    return fmt::format("{:>12} {:>11} {:>7} {:>10} {:>10} {:>10} {:>7} {:>8} {:>8} {:>7}",
                       cells.size, cells.count, cells.type, cells.op, cells.median, cells.peer,
                       cells.ratio, cells.algbw, cells.busbw, cells.wrong);
  return fmt::format("{:>12} {:>12} {:>7} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8}", cells.size,
                     cells.count, cells.type, cells.op, cells.median, cells.average, cells.algbw,
                     cells.busbw, cells.wrong);
}

std::string microseconds(double value) {
  return fmt::format("{:.{}f}", value, value < 100 ? 3 : value < 1e6 ? 1 : 0);
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) {
      const size_t colon = line.find(": ");
      if (colon != std::string::npos) return line.substr(colon + 2);
    }
  return "unknown";
}

// Elements as the count column has them: purlin_call's count, or all parts of the largest sender.
uint64_t shown_count(const Case& test) {
  return test.counts.empty() ? test.count : size_of(test) / dtype_bytes(test.dtype);
}

std::string_view operation(const Case& test) {
  return reduces(test.collective) ? op_name(test.op) : "-";
}

std::string_view path_text(purlin_path path) {
  switch (path) {
    case PURLIN_PATH_LATENCY:
      return "latency";
    case PURLIN_PATH_THROUGHPUT:
      return "throughput";
    case PURLIN_PATH_SWITCH:
      return "switch";
    default:
      return "auto";
  }
}

std::string_view device_text(const PerfOptions& options) {
  if (options.device != PURLIN_DEVICE_CUDA) return "host memory";
  if (options.behind)
    return options.eager ? "GPU memory, calls one by one, each behind an empty kernel"
                         : "GPU memory, graphs, each call behind an empty kernel";
  return options.eager ? "GPU memory, calls one by one" : "GPU memory, graphs";
}

nlohmann::ordered_json figures(const Timing& timing) {
  return {{"median", timing.median},
          {"average", timing.average},
          {"min", timing.least},
          {"p99", timing.p99},
          {"max", timing.most}};
}

std::string skew_text(const Skew& skew) {
  switch (skew.kind) {
    case Skew::Kind::kZipf:
      return fmt::format("zipf:{}", skew.exponent);
    case Skew::Kind::kRandom:
      return fmt::format("random, seed {}", skew.seed);
    case Skew::Kind::kFile:
      return "file";
    default:
      return "uniform";
  }
}

}  // namespace

std::string table_heading(const PerfOptions& options) {
  const std::string kind = options.as_processes ? fmt::format("processes of {}", options.launcher)
                                                : std::string("threads of one process");
  std::string text =
      fmt::format("# purlin perf {}: {} ranks, {}, {}{}{}{}\n# path {}, policy {}, seed {}, {}\n",
                  collective_name(options.collective), options.nranks, kind, device_text(options),
                  options.in_place ? ", in place" : "", options.registered ? ", registered" : "",
                  options.alone < 0 ? "" : fmt::format(", rank {} alone", options.alone),
                  path_text(options.path),
                  options.policy.empty() ? "found by search" : options.policy, options.seed,
                  options.check ? options.alone < 0 ? "results checked bit for bit on every rank"
                                                    : "results checked bit for bit"
                                : "results not checked (--check)");
  if (takes_counts(options.collective) || options.collective == PURLIN_SEND_RECV)
    text += fmt::format("# parts: {}\n", options.collective == PURLIN_SEND_RECV &&
                                                 options.skew.kind == Skew::Kind::kUniform
                                             ? "one message from each rank to the next"
                                             : skew_text(options.skew));
  text += "#\n#" + line(options, {"size", "count", "type", "op", "median", "average",
                                  options.versus == Versus::kNccl ? "nccl" : "nccl-sym", "ratio",
                                  "algbw", "busbw", "#wrong"})
                       .substr(1);
  return text + "\n#" +
         line(options,
              {"(B)", "(elements)", "", "", "(us)", "(us)", "(us)", "", "(GB/s)", "(GB/s)", ""})
             .substr(1);
}

double algorithm_bandwidth(const Case& test, const Row& row) {
  const double time = row.slowest.median;
  return time > 0 ? static_cast<double>(size_of(test)) / time / 1000 : 0;
}

double ratio_to_peer(const Row& row) {
  return row.slowest.median > 0 ? row.peer.median / row.slowest.median : 0;
}

std::string table_row(const PerfOptions& options, const Case& test, const Row& row) {
  const double bandwidth = algorithm_bandwidth(test, row);
  const bool compared = row.peer.calls > 0;
  return line(options, {fmt::format("{}", size_of(test)), fmt::format("{}", shown_count(test)),
                        std::string(dtype_name(test.dtype)), std::string(operation(test)),
                        microseconds(row.slowest.median), microseconds(row.slowest.average),
                        compared ? microseconds(row.peer.median) : "-",
                        compared ? fmt::format("{:.2f}", ratio_to_peer(row)) : "-",
                        fmt::format("{:.2f}", bandwidth),
                        fmt::format("{:.2f}", bandwidth * bus_factor(test.collective, test.nranks)),
                        options.check ? fmt::format("{}", row.wrong) : "-"});
}

std::string table_footing(const PerfOptions& options, uint64_t rows, uint64_t wrong) {
  if (!options.check) return fmt::format("# {} rows, not checked", rows);
  return fmt::format("# {} rows, {} wrong elements{}", rows, wrong, wrong ? ": FAILED" : "");
}

nlohmann::ordered_json json_heading(const PerfOptions& options) {
  nlohmann::ordered_json json;
  json["purlin"] = purlin_version();
  json["machine"] = {{"processor", processor()},
                     {"processors", std::thread::hardware_concurrency()}};
  json["collective"] = collective_name(options.collective);
  json["ranks"] = options.nranks;
  json["ranks_are"] = options.as_processes ? "processes" : "threads";
  json["device"] = options.device == PURLIN_DEVICE_CUDA ? "cuda" : "host";
  if (options.device == PURLIN_DEVICE_CUDA) json["timed"] = options.eager ? "eager" : "graphs";
  if (options.versus != Versus::kNothing)
    json["versus"] = options.versus == Versus::kNccl ? "nccl" : "nccl-sym";
  json["policy"] =
      options.policy.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(options.policy);
  json["path"] = path_text(options.path);
  json["in_place"] = options.in_place;
  json["registered"] = options.registered;
  if (options.alone >= 0) json["alone"] = options.alone;
  json["seed"] = options.seed;
  if (takes_counts(options.collective)) json["skew"] = skew_text(options.skew);
  json["checked"] = options.check;
  return json;
}

nlohmann::ordered_json json_row(const PerfOptions& options, const Case& test, const Row& row) {
  const double bandwidth = algorithm_bandwidth(test, row);
  nlohmann::ordered_json json;
  json["size"] = size_of(test);
  json["count"] = shown_count(test);
  if (!test.counts.empty()) json["counts"] = test.counts;
  json["type"] = dtype_name(test.dtype);
  if (reduces(test.collective)) json["op"] = op_name(test.op);
  if (rooted(test.collective)) json["root"] = test.root;
  json["calls"] = row.slowest.calls;
  json["calls_per_sample"] = row.batch;
  json["time_us"] = figures(row.slowest);
  json["rank_median_us"] = row.rank_medians;
  if (options.behind) json["empty_us"] = row.empty;
  if (row.peer.calls > 0) {
    json["nccl_time_us"] = figures(row.peer);
    json["nccl_ratio"] = ratio_to_peer(row);
  }
  json["algbw_GBps"] = bandwidth;
  json["busbw_GBps"] = bandwidth * bus_factor(test.collective, test.nranks);
  if (options.check) {
    json["checked_calls"] = row.checked_calls;
    json["wrong"] = row.wrong;
    json["digest"] = fmt::format("{:016x}", row.digest);
  }
  return json;
}

}  // namespace purlin::tools
