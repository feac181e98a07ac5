// The Atom in communicators of this process.
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "tools/check/gpu/atom_on_gpu.h"
#include "tools/check/static_checks.h"
#include "tools/check/temporary_folder.h"
#include "tools/json_text.h"
#include "tools/names.h"
#include "tools/perf_session.h"
#include "tools/plugin_verdict.h"

namespace purlin::tools::check {
namespace {

constexpr int kRanks = 3;

std::optional<Finding> cannot_run(const Subject& subject) {
  if (!subject.host()) {
    if ((number_at(subject.atom, "capabilities") & PURLIN_CAP_REDUCE) == 0)
      return not_checked("it serves beside another Atom, for calls by the switch");
    const auto atom = AtomOnGpu::open(subject);
    return atom ? std::nullopt : std::optional(not_checked(atom.error()));
  }
  const auto verdict = judge_plugin(subject.path, "host");
  if (verdict && verdict->accepted && verdict->fit().rule == "probe-refused")
    return not_checked("its probe refuses this machine: " + verdict->fit().reason);
  return std::nullopt;
}

// One table of `purlin perf`; its first complaint, empty when all was right.
std::string run_table(const PerfArguments& arguments, uint64_t& cases) {
  const auto options = check_arguments(arguments, [](const char*) { return std::nullopt; });
  if (!options) return options.error();
  std::string complaint;
  const PerfResult result = run_perf(*options, {[](const std::string&) {},
                                                [&](int rank, const std::string& text) {
                                                  if (complaint.empty())
                                                    complaint =
                                                        fmt::format("rank {}: {}", rank, text);
                                                }});
  cases += result.rows;
  if (!result.failed && result.wrong == 0) return "";
  return complaint.empty() ? fmt::format("{} wrong elements", result.wrong) : complaint;
}

PerfArguments arguments_for(const Subject& subject, int collective, const std::string& policy) {
  PerfArguments arguments;
  arguments.collective = collective_name(collective);
  arguments.ranks = kRanks;
  arguments.policy = policy;
  arguments.device = subject.host() ? "host" : "cuda";
  arguments.check = true;
  arguments.iterations = 2;
  arguments.warmup = 1;
  arguments.seed = subject.seed;
  arguments.timeout_seconds = 20;
  if (collective != PURLIN_BARRIER) {
    arguments.begin = "8";
    arguments.end = "200KiB";
    arguments.factor = 30;
  }
  return arguments;
}

// The dtypes and operations that the Atom declares for all of, as `purlin perf` takes them.
std::string declared_dtypes(const Subject& subject) {
  std::string list;
  const auto masks = subject.atom.value("op_mask", std::vector<uint32_t>(PURLIN_DTYPE_COUNT));
  for (int dtype = 0; dtype < PURLIN_DTYPE_COUNT; ++dtype)
    if ((masks[static_cast<size_t>(dtype)] >> PURLIN_SUM & 1u) != 0)
      list += (list.empty() ? "" : ",") + std::string(dtype_name(dtype));
  return list;
}

std::string status_text(purlin_status status) {
  return status == PURLIN_OK
             ? "PURLIN_OK"
             : fmt::format("{} ({})", purlin_status_name(status), purlin_last_error());
}

// Two ranks of which one calls an all_reduce alone; `interfere` is called meanwhile. What the call
// returned.
template <class Interfere>
std::string lonely_call(const Subject& subject, unsigned timeout_ms, purlin_status wanted,
                        const Interfere& interfere) {
  const std::string policy = policy_for_plugin(subject.path);
  purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
  options.device_kind = PURLIN_DEVICE_HOST;
  options.policy_text = policy.c_str();
  options.timeout_ms = timeout_ms;
  std::array<purlin_comm_t, 2> comms{};
  if (const auto made = purlin_comm_create_all(comms.data(), 2, nullptr, &options);
      made != PURLIN_OK)
    return "the communicator could not be made: " + status_text(made);
  std::string returned;
  purlin_status status = PURLIN_OK;
  std::vector<float> in(4000, 1.0f), out(4000);
  std::thread caller([&] {
    status = purlin_all_reduce(in.data(), out.data(), in.size(), PURLIN_F32, PURLIN_SUM, comms[0],
                               nullptr);
    returned = status_text(status);
  });
  interfere(comms[0]);
  caller.join();
  for (purlin_comm_t comm : comms) purlin_comm_destroy(comm);
  return status == wanted ? ""
                          : fmt::format("the waiting call returned {}, should be {}", returned,
                                        purlin_status_name(wanted));
}

}  // namespace

Finding check_collectives(const Subject& subject) {
  if (const auto why = cannot_run(subject)) return *why;
  const TemporaryFolder folder;
  const std::string policy = folder.write("policy.yaml", policy_for_plugin(subject.path));
  const std::string dtypes = declared_dtypes(subject);
  uint64_t cases = 0;
  for (int collective = 0; collective < PURLIN_COLLECTIVE_COUNT; ++collective) {
    if (collective == PURLIN_CUSTOM || (reduces(collective) && dtypes.empty())) continue;
    const bool pairs = collective == PURLIN_SEND_RECV || collective == PURLIN_BARRIER;
    for (const char* path : {"latency", "throughput"}) {
      PerfArguments arguments = arguments_for(subject, collective, policy);
      if (!pairs) arguments.path = path;
      if (std::string(path) == "latency" && !pairs) arguments.end = "2KiB";
      if (reduces(collective)) arguments.dtypes = dtypes;
      if (const std::string fault = run_table(arguments, cases); !fault.empty())
        return failed(fmt::format("{} on {} ranks, {} path: {}", collective_name(collective),
                                  kRanks, path, fault),
                      cases);
    }
  }
  return passed(cases);
}

Finding check_abort(const Subject& subject) {
  if (const auto why = cannot_run(subject)) return *why;
  auto random = subject.random(kAbort);
  const uint64_t rounds = subject.times(10, 200);
  for (uint64_t i = 0; i < rounds; ++i) {
    // Before, while and after the call begins to wait: wherever the pause happens to end.
    const auto pause = std::chrono::microseconds(random() % 3000);
    const std::string fault = lonely_call(subject, 30000, PURLIN_ABORTED, [&](purlin_comm_t comm) {
      std::this_thread::sleep_for(pause);
      purlin_comm_abort(comm);
    });
    if (!fault.empty())
      return failed(fmt::format("abort after {} us: {}", pause.count(), fault), i + 1);
  }
  const std::string fault = lonely_call(subject, 100, PURLIN_TIMEOUT, [](purlin_comm_t) {});
  return fault.empty() ? passed(rounds + 1) : failed("a time-out of 100 ms: " + fault, rounds + 1);
}

}  // namespace purlin::tools::check
