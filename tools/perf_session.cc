#include "tools/perf_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "tools/alone.h"
#include "tools/bench.h"
#include "tools/cuda_driver.h"
#include "tools/names.h"
#include "tools/nccl_library.h"
#include "tools/nccl_peer.h"
#include "tools/perf_report.h"
#include "tools/progress.h"
#include "tools/rank_device.h"
#include "tools/size_text.h"

namespace purlin::tools {
namespace {

// What creating a communicator took of one rank: time, and memory of its device.
class Cost {
 public:
  explicit Cost(const RankDevice& device)
      : device_(device), begin_(std::chrono::steady_clock::now()), free_(device.free_memory()) {}

  void made() { took_ = std::chrono::steady_clock::now() - begin_; }

  // The slowest rank's time, and the most that any device has less than before, for all the ranks
  // on it. The same on every rank.
  Outcome<nlohmann::ordered_json> of_all(RankLink& link) const {
    const uint64_t left = device_.free_memory();
    struct Figures {
      double milliseconds;
      uint64_t bytes;
    };
    const auto all = link.gather_all(Figures{took_.count(), free_ > left ? free_ - left : 0});
    if (!all) return Error{all.error()};
    Figures most{0, 0};
    for (const Figures& rank : *all)
      most = {std::max(most.milliseconds, rank.milliseconds), std::max(most.bytes, rank.bytes)};
    nlohmann::ordered_json json = {{"create_ms", most.milliseconds}};
    if (left > 0) json["device_bytes"] = most.bytes;
    return json;
  }

 private:
  const RankDevice& device_;
  const std::chrono::steady_clock::time_point begin_;
  const uint64_t free_;
  std::chrono::duration<double, std::milli> took_{0};
};

class Session {
 public:
  Session(const PerfOptions& options, const PerfOutput& output)
      : options_(options), output_(output), cases_(cases_of(options)) {}

  PerfResult run() {
    if (Done chosen = choose_device(); !chosen) {
      fail(options_.rank, chosen.error());
      return result_;
    }
    if (options_.as_processes)
      one_process();
    else
      threads();
    tell_who_failed_alike();
    if (!document_.is_null()) result_.json = document_.dump(2) + "\n";
    return result_;
  }

 private:
  // Opens the driver where GPUs are wanted, and settles what "auto" means.
  Done choose_device() {
    if (options_.device == PURLIN_DEVICE_HOST) return open_nccl();
    auto driver = CudaDriver::open();
    if (driver) {
      driver_ = std::move(*driver);
      options_.device = PURLIN_DEVICE_CUDA;
      return open_nccl();
    }
    if (options_.behind || options_.versus != Versus::kNothing) return Error{driver.error()};
    if (options_.device == PURLIN_DEVICE_CUDA)
      return Error{driver.error() + ", or measure ranks in host memory with --device host"};
    options_.device = PURLIN_DEVICE_HOST;
    return done();
  }

  Done open_nccl() {
    if (options_.versus == Versus::kNothing) return done();
    auto library = NcclLibrary::open(options_.nccl);
    if (!library) return Error{library.error()};
    nccl_ = std::move(*library);
    return done();
  }

  // Ranks take the GPUs in turn.
  Outcome<std::unique_ptr<RankDevice>> device_of(int rank) const {
    if (!driver_) return host_device();
    return cuda_device(*driver_, rank % driver_->devices(), !options_.eager, options_.behind);
  }

  purlin_comm_options comm_options(const RankDevice& device) const {
    purlin_comm_options wanted = PURLIN_COMM_OPTIONS_INIT;
    wanted.device_kind = device.kind();
    wanted.device_ordinal = device.ordinal();
    wanted.policy_path = options_.policy.empty() ? nullptr : options_.policy.c_str();
    wanted.timeout_ms = options_.timeout_ms;
    wanted.name = "perf";
    return wanted;
  }

  void one_process() {
    const auto device = device_of(options_.rank);
    if (!device) return fail(options_.rank, device.error());
    purlin_comm_options wanted = comm_options(**device);
    purlin_comm_t comm = nullptr;
    Cost cost(**device);
    if (purlin_comm_create(&comm, &wanted) != PURLIN_OK)
      return fail(options_.rank, purlin_last_error());
    cost.made();
    rows(comm, cost, **device, *process_link(comm, options_.rank, options_.nranks, **device));
    finish(comm, options_.rank);
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
    const auto device = device_of(rank);
    if (!device) fail(rank, device.error());
    if (!link->agree(device ? done() : Done(Error{device.error()}))) return;
    purlin_comm_options wanted = comm_options(**device);
    wanted.nranks = options_.nranks;
    wanted.rank = rank;
    wanted.unique_id = &id;
    purlin_comm_t comm = nullptr;
    Done created = done();
    Cost cost(**device);
    if (!link->agree(created)) return;  // nobody creates before all have looked at the memory
    if (purlin_comm_create(&comm, &wanted) != PURLIN_OK) created = Error{purlin_last_error()};
    cost.made();
    if (!created) fail(rank, created.error());
    if (link->agree(created)) {
      if (options_.alone < 0)
        rows(comm, cost, **device, *link);
      else
        rows_alone(comm, cost, **device, *link);
    }
    if (comm) finish(comm, rank);
  }

  // The peers only hold their memory.
  void rows_alone(purlin_comm_t comm, Cost& cost, RankDevice& device, RankLink& link) {
    if (link.rank() == options_.alone) {
      ThreadHub solo(1);
      rows(comm, cost, device, *solo.link(0));
    }
    static_cast<void>(link.agree(done()));
  }

  void finish(purlin_comm_t comm, int rank) {
    if (purlin_comm_destroy(comm) != PURLIN_OK) fail(rank, purlin_last_error());
  }

  void rows(purlin_comm_t comm, Cost& cost, RankDevice& device, RankLink& link) {
    const bool first = link.rank() == 0;
    const bool alone = options_.alone >= 0;
    const int rank = alone ? options_.alone : link.rank();
    const auto created = cost.of_all(link);
    if (!created) return fail(rank, created.error());
    std::unique_ptr<NcclPeer> peer;
    Cost peer_cost(device);
    if (nccl_) {
      auto joined = NcclPeer::join(*nccl_, link, options_.versus == Versus::kNcclSymmetric);
      if (!joined) return fail(rank, joined.error());
      peer = std::move(*joined);
      peer_cost.made();
    }
    Progress progress(options_.progress);
    if (first) {
      document_ = json_heading(options_);
      document_["communicator"] = *created;
      document_["rows"] = nlohmann::ordered_json::array();
      if (nccl_) document_["nccl"] = nccl_->version();
      say(table_heading(options_));
    }
    const BenchSettings settings{options_.check,      options_.path,       options_.ctas,
                                 options_.iterations, options_.warmup,     options_.seed,
                                 options_.misalign,   options_.registered, peer.get()};
    const std::function<void(const std::string&)> complain = [&](const std::string& text) {
      const std::lock_guard lock(mutex_);
      output_.complain(rank, text);
    };
    uint64_t wrong = 0, finished = 0;
    for (const Case& test : cases_) {
      if (first) progress.show(finished, cases_.size(), label(test));
      const std::function<void(const std::string&)> told = [&](const std::string& note) {
        complain(fmt::format("{}: {}", label(test), note));
      };
      const auto row = alone ? measure_alone(test, settings, rank, comm, device, told)
                             : measure(test, settings, comm, device, link, told);
      if (first) progress.clear();
      if (!row) return fail(rank, fmt::format("{}: {}", label(test), row.error()));
      wrong += row->wrong;
      ++finished;
      if (!first) continue;
      say(table_row(options_, test, *row));
      document_["rows"].push_back(json_row(options_, test, *row));
    }
    // At the end: NCCL takes memory when it is first called.
    const auto peer_took = peer_cost.of_all(link);
    if (!peer_took) return fail(link.rank(), peer_took.error());
    const std::lock_guard lock(mutex_);
    result_.rows = finished;
    result_.wrong = wrong;  // the same on every rank
    if (!first) return;
    document_["wrong"] = wrong;
    if (nccl_) document_["nccl_communicator"] = *peer_took;
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

  // What several ranks say alike is told once, as soon as the first says it.
  void fail(int rank, const std::string& text) {
    const std::lock_guard lock(mutex_);
    result_.failed = true;
    std::vector<int>& ranks = failures_[text];
    if (ranks.empty()) output_.complain(rank, text);
    ranks.push_back(rank);
  }

  void tell_who_failed_alike() {
    for (const auto& [text, ranks] : failures_)
      if (ranks.size() > 1)
        output_.complain(
            ranks.front(),
            fmt::format("ranks {} say the same", fmt::join(ranks.begin() + 1, ranks.end(), ", ")));
  }

  PerfOptions options_;
  const PerfOutput& output_;
  const std::vector<Case> cases_;
  std::unique_ptr<const CudaDriver> driver_;  // with GPUs
  std::unique_ptr<const NcclLibrary> nccl_;   // where it is compared with
  std::mutex mutex_;
  PerfResult result_;
  std::map<std::string, std::vector<int>> failures_;  // text: the ranks that failed with it
  nlohmann::ordered_json document_;                   // rank 0's
};

}  // namespace

PerfResult run_perf(const PerfOptions& options, const PerfOutput& output) {
  return Session(options, output).run();
}

}  // namespace purlin::tools
