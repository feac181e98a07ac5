#include "tools/check/check.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tools/check/gpu/gpu_checks.h"
#include "tools/check/host_checks.h"
#include "tools/check/isolated.h"
#include "tools/check/static_checks.h"
#include "tools/check/surroundings.h"
#include "tools/json_text.h"
#include "tools/plugin_verdict.h"

namespace purlin::tools::check {
namespace {

using nlohmann::json;

using CheckFunction = Finding (*)(const Subject&);
struct Check {
  Number number;
  CheckFunction of_host, of_cuda;   // null: says nothing of such an Atom
  const char* not_applicable = "";  // why, then
  double patience = 1, on_gpu = 1;  // times the limit
};
constexpr double kLinking = 10;  // programs are linked first
constexpr Check kChecks[] = {
    {kProbe, check_probe, check_probe},
    {kCapabilities, check_capabilities, check_capabilities},
    {kImages, nullptr, check_images, "a host Atom has no images"},
    {kLinks, nullptr, check_links, "a host Atom has no images", 1, kLinking},
    {kWalk, check_walk, check_walk_on_gpu, "", 1, kLinking},
    {kCopy, check_copy, check_copy_on_gpu, "", 1, kLinking},
    {kStop, check_stop, check_stop_on_gpu, "", 1, kLinking},
    {kReduce, check_reduce, check_reduce_on_gpu, "", 1, kLinking},
    {kScale, check_scale, check_scale_on_gpu, "", 1, kLinking},
    {kScore, check_score, check_score_on_gpu, "", 1, kLinking},
    {kEnvironment, check_environment, nullptr, "device code has no caller whose modes it inherits"},
    {kPackets, check_packets, check_packets_on_gpu, "", 1, kLinking},
    {kOrder, check_order, check_order_on_gpu, "", 1, kLinking},
    {kLimits, check_limits, check_limits_on_gpu, "", 1, kLinking},
    {kThreads, check_threads, check_threads_on_gpu, "", 1, kLinking},
    {kFuzz, check_fuzz, check_fuzz_on_gpu, "", 1, kLinking},
    {kCollectives, check_collectives, check_collectives, "", 3, kLinking},
    {kAbort, check_abort, check_abort_on_gpu, "", 1, kLinking},
};

json to_json(const Finding& finding) {
  return {
      {"state", static_cast<int>(finding.state)}, {"text", finding.text}, {"cases", finding.cases}};
}

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// What the plugin printed goes behind what else was found.
std::string with_output(std::string text, const std::string& printed) {
  if (printed.empty()) return text;
  return text + "; it printed: " + printed.substr(0, printed.find('\n'));
}

class Checker {
 public:
  explicit Checker(const CheckOptions& options) : options_(options) {
    report_.path = options.path;
    report_.seed = options.seed;
    report_.full = options.full;
    report_.findings.assign(kCount, not_checked("not asked for"));
    subject_.path = options.path;
    subject_.seed = options.seed;
    subject_.full = options.full;
  }

  CheckReport run() {
    load();
    if (report_.atom.is_null()) return report_;
    for (const Check& check : kChecks) {
      if (!wanted(check.number)) continue;
      const CheckFunction run = subject_.host() ? check.of_host : check.of_cuda;
      if (run == nullptr)
        set(check.number, not_applicable(check.not_applicable));
      else if (hung_ != 0)
        set(check.number, not_checked(fmt::format("requirement {} did not end", hung_)));
      else
        set(check.number,
            isolated(run, check.number, subject_.host() ? check.patience : check.on_gpu));
    }
    return report_;
  }

 private:
  bool wanted(int number) const { return options_.only.empty() || options_.only.contains(number); }
  void set(int number, Finding finding) {
    if (wanted(number)) report_.findings[static_cast<size_t>(number - 1)] = std::move(finding);
  }

  // Runs a check in a child that has loaded the plugin, if it has host code.
  Finding isolated(CheckFunction check, int number, double patience = 1) {
    const IsolatedRun done = run_isolated(
        [&] {
          Subject subject = subject_;
          void* const handle = subject.atom.is_null() || subject.atom.value("data_only", false)
                                   ? nullptr
                                   : ::dlopen(subject.path.c_str(), RTLD_NOW | RTLD_LOCAL);
          if (handle != nullptr)
            if (void* entry = ::dlsym(handle, PURLIN_ATOM_ENTRY_NAME))
              subject.descriptor = reinterpret_cast<purlin_atom_entry_fn>(entry)();
          return dump(to_json(check(subject)));
        },
        options_.limit_seconds * patience);
    if (done.end != IsolatedRun::End::kReturned) {
      // Its functions are not to be trusted with more time.
      if (done.end == IsolatedRun::End::kTimedOut && number >= kWalk) hung_ = number;
      return failed(with_output(done.how, done.printed));
    }
    const json answer = json::parse(done.answer, nullptr, false);
    Finding finding{static_cast<State>(answer.value("state", 1)), text_at(answer, "text"),
                    number_at(answer, "cases")};
    if (finding.state == State::kFailed) finding.text = with_output(finding.text, done.printed);
    return finding;
  }

  // Requirements 1 to 6.
  void load() {
    const IsolatedRun done = run_isolated(
        [&] {
          const Surroundings before = observe_surroundings();
          const auto verdict = judge_plugin(options_.path, "host");
          const auto changes = differences(before, observe_surroundings());
          if (!verdict) return dump({{"error", verdict.error()}});
          return dump({{"accepted", verdict->accepted},
                       {"rule", verdict->rule},
                       {"reason", verdict->reason},
                       {"remedy", verdict->remedy},
                       {"atom", verdict->atom},
                       {"changes", changes}});
        },
        options_.limit_seconds);
    if (done.end != IsolatedRun::End::kReturned) {
      set(kExports, isolated(check_exports, kExports));
      refuse(kLoads,
             with_output("while it was loaded the process was or did: " + done.how, done.printed));
      return;
    }
    const json answer = json::parse(done.answer, nullptr, false);
    if (answer.contains("error")) return refuse(kFile, text_at(answer, "error"));
    if (!answer.value("accepted", false)) {
      const std::string rule = text_at(answer, "rule");
      const int number = requirement_of_rule(rule);
      if (number > kExports) set(kExports, isolated(check_exports, kExports));
      return refuse(
          number == 0 ? kFile : number,
          fmt::format("{} [{}]; {}", text_at(answer, "reason"), rule, text_at(answer, "remedy")));
    }
    report_.atom = subject_.atom = list_or_object(answer, "atom");
    for (const int number : {kFile, kVersions, kLoads, kDescriptor}) set(number, passed(1));
    set(kExports, isolated(check_exports, kExports));
    Finding quiet = isolated(check_needed, kQuiet);
    if (quiet.state != State::kFailed)
      quiet = judge_quiet(list_or_object(answer, "changes"), done.printed);
    set(kQuiet, std::move(quiet));
  }

  static Finding judge_quiet(const json& changes, const std::string& printed) {
    if (!printed.empty()) return failed("it printed: " + printed.substr(0, printed.find('\n')));
    std::string list;
    for (const json& change : changes)
      list += (list.empty() ? "" : ", ") + change.get<std::string>();
    return list.empty() ? passed(1) : failed("it changed " + list);
  }

  // The loader's order: what comes before the broken requirement was kept, what comes after was not
  // reached.
  void refuse(int broken, const std::string& why) {
    for (int number = 1; number <= kCount; ++number) {
      const bool judged = number == kExports && report_.findings[kExports - 1].cases != 0;
      if (number == broken)
        set(number, failed(why));
      else if (number > broken && !judged)
        set(number, not_checked(fmt::format("requirement {} is broken", broken)));
      else if (number < broken && number != kExports)
        set(number, passed(1));
    }
  }

  const CheckOptions& options_;
  CheckReport report_;
  Subject subject_;
  int hung_ = 0;
};

}  // namespace

int CheckReport::count(State state) const {
  return static_cast<int>(std::count_if(findings.begin(), findings.end(),
                                        [&](const Finding& one) { return one.state == state; }));
}

CheckReport check_plugin(const CheckOptions& options) { return Checker(options).run(); }

}  // namespace purlin::tools::check
