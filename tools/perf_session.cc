#include "tools/perf_session.h"

#include <fmt/format.h>

#include <mutex>
#include <thread>

#include "tools/bench.h"
#include "tools/names.h"
#include "tools/perf_report.h"
#include "tools/progress.h"
#include "tools/size_text.h"

namespace purlin::tools {
namespace {

class Session {
 public:
  Session(const PerfOptions& options, const PerfOutput& output)
      : options_(options), output_(output), cases_(cases_of(options)) {}

  PerfResult run() {
    if (options_.as_processes)
      one_process();
    else
      threads();
    if (!document_.is_null()) result_.json = document_.dump(2) + "\n";
    return result_;
  }

 private:
  purlin_comm_options comm_options() const {
    purlin_comm_options wanted = PURLIN_COMM_OPTIONS_INIT;
    wanted.device_kind = options_.device;
    wanted.policy_path = options_.policy.empty() ? nullptr : options_.policy.c_str();
    wanted.timeout_ms = options_.timeout_ms;
    wanted.name = "perf";
    return wanted;
  }

  void one_process() {
    purlin_comm_options wanted = comm_options();
    purlin_comm_t comm = nullptr;
    if (purlin_comm_create(&comm, &wanted) != PURLIN_OK) return fail(0, purlin_last_error());
    int rank = 0, nranks = 0;
    if (purlin_comm_rank(comm, &rank) != PURLIN_OK || purlin_comm_size(comm, &nranks) != PURLIN_OK)
      fail(0, purlin_last_error());
    else
      rows(comm, *process_link(comm, rank, nranks));
    finish(comm, rank);
  }

  void threads() {
    purlin_unique_id id;
    if (purlin_get_unique_id(&id) != PURLIN_OK) return fail(0, purlin_last_error());
    ThreadHub hub(options_.nranks);
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < options_.nranks; ++rank)
      ranks.emplace_back([this, &hub, &id, rank] { one_thread(hub, id, rank); });
    for (std::thread& rank : ranks) rank.join();
  }

  void one_thread(ThreadHub& hub, const purlin_unique_id& id, int rank) {
    const auto link = hub.link(rank);
    purlin_comm_options wanted = comm_options();
    wanted.nranks = options_.nranks;
    wanted.rank = rank;
    wanted.unique_id = &id;
    purlin_comm_t comm = nullptr;
    Done created = done();
    if (purlin_comm_create(&comm, &wanted) != PURLIN_OK) created = Error{purlin_last_error()};
    if (!created) fail(rank, created.error());
    if (link->agree(created)) rows(comm, *link);
    if (comm) finish(comm, rank);
  }

  void finish(purlin_comm_t comm, int rank) {
    if (purlin_comm_destroy(comm) != PURLIN_OK) fail(rank, purlin_last_error());
  }

  void rows(purlin_comm_t comm, RankLink& link) {
    const bool first = link.rank() == 0;
    Progress progress(options_.progress);
    if (first) {
      document_ = json_heading(options_);
      document_["rows"] = nlohmann::ordered_json::array();
      say(table_heading(options_));
    }
    const BenchSettings settings{options_.check,      options_.path,   options_.ctas,
                                 options_.iterations, options_.warmup, options_.seed,
                                 options_.misalign};
    const std::function<void(const std::string&)> complain = [&](const std::string& text) {
      const std::lock_guard lock(mutex_);
      output_.complain(link.rank(), text);
    };
    uint64_t wrong = 0, finished = 0;
    for (const Case& test : cases_) {
      if (first) progress.show(finished, cases_.size(), label(test));
      const auto row = measure(test, settings, comm, link, [&](const std::string& note) {
        complain(fmt::format("{}: {}", label(test), note));
      });
      if (first) progress.clear();
      if (!row) return fail(link.rank(), fmt::format("{}: {}", label(test), row.error()));
      wrong += row->wrong;
      ++finished;
      if (!first) continue;
      say(table_row(options_, test, *row));
      document_["rows"].push_back(json_row(options_, test, *row));
    }
    const std::lock_guard lock(mutex_);
    result_.rows = finished;
    result_.wrong = wrong;  // the same on every rank
    if (!first) return;
    document_["wrong"] = wrong;
    output_.table(table_footing(options_, finished, wrong));
  }

  static std::string label(const Case& test) {
    return fmt::format("{} {}{}{} of {}", collective_name(test.collective), dtype_name(test.dtype),
                       reduces(test.collective) ? " " : "",
                       reduces(test.collective) ? op_name(test.op) : "",
                       format_size(size_of(test)));
  }

  void say(const std::string& line) {
    const std::lock_guard lock(mutex_);
    output_.table(line);
  }

  void fail(int rank, const std::string& text) {
    const std::lock_guard lock(mutex_);
    result_.failed = true;
    output_.complain(rank, text);
  }

  const PerfOptions& options_;
  const PerfOutput& output_;
  const std::vector<Case> cases_;
  std::mutex mutex_;
  PerfResult result_;
  nlohmann::ordered_json document_;  // rank 0's
};

}  // namespace

PerfResult run_perf(const PerfOptions& options, const PerfOutput& output) {
  return Session(options, output).run();
}

}  // namespace purlin::tools
