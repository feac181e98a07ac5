#include "device/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "device/loaded_program.h"

namespace purlin {
namespace {

// What one communicator takes of a device, for all its ranks there.
struct Share {
  unsigned ctas = 0;
  unsigned local_ranks = 0;
  std::vector<const std::atomic<uint64_t>*> launches;  // of each claim
  std::string name;
};

// The claims on one device. All members are guarded by `mutex`.
struct Ledger {
  std::mutex mutex;
  unsigned capacity = 0;
  std::map<uint64_t, Share> shares;

  unsigned total() const {
    unsigned sum = 0;
    for (const auto& [communicator, share] : shares) sum += share.ctas;
    return sum;
  }
};

std::shared_ptr<Ledger> ledger_of(const CudaDevice& device) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<Ledger>> ledgers;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Ledger>& ledger = ledgers[device.uuid_text()];
  if (ledger == nullptr) {
    ledger = std::make_shared<Ledger>();
    ledger->capacity = static_cast<unsigned>(device.multiprocessors());
  }
  return ledger;
}

class Claim final : public BudgetClaim {
 public:
  // The ledger is locked, and the share there.
  Claim(std::shared_ptr<Ledger> ledger, uint64_t communicator)
      : ledger_(std::move(ledger)), communicator_(communicator) {
    ledger_->shares.at(communicator_).launches.push_back(&launched_);
  }
  ~Claim() override {
    const std::lock_guard lock(ledger_->mutex);
    const auto found = ledger_->shares.find(communicator_);
    std::erase(found->second.launches, &launched_);
    if (found->second.launches.empty()) ledger_->shares.erase(found);
  }
  bool must_chain() const override {
    const std::lock_guard lock(ledger_->mutex);
    return ledger_->shares.size() > 1 && ledger_->total() > ledger_->capacity;
  }
  void await_peers() const override {
    const auto end = std::chrono::steady_clock::now() + kPace;
    while (is_ahead() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  }
  void count_launches(unsigned count) override {
    launched_.fetch_add(count, std::memory_order_relaxed);
  }

 private:
  bool is_ahead() const {
    const std::lock_guard lock(ledger_->mutex);
    const uint64_t own = launched_.load(std::memory_order_relaxed);
    return std::ranges::any_of(ledger_->shares.at(communicator_).launches, [own](const auto* peer) {
      return peer->load(std::memory_order_relaxed) < own;
    });
  }

  std::atomic<uint64_t> launched_ = 0;
  const std::shared_ptr<Ledger> ledger_;
  const uint64_t communicator_;
};

Status refuse_alone(const CudaDevice& device, const BudgetRequest& request, unsigned needed,
                    unsigned capacity) {
  return {
      PURLIN_UNSUPPORTED,
      fmt::format("communicator {}: {} ranks with {} CTAs each{} need {} CTAs resident together on "
                  "{}, which keeps {} (one a multiprocessor). Lower cta_budget to {} or less",
                  request.name, request.local_ranks, request.ctas,
                  request.overlapping ? ", counted twice since their programs overlap," : "",
                  needed, device.describe(), capacity,
                  budget_share(device, request.local_ranks, request.overlapping))};
}

Status refuse_together(const CudaDevice& device, const BudgetRequest& request, unsigned needed,
                       const Ledger& ledger) {
  std::string others;
  for (const auto& [communicator, share] : ledger.shares) {
    others += fmt::format("{}{} ({} ranks, {} CTAs)", others.empty() ? "" : ", ", share.name,
                          share.local_ranks, share.ctas);
  }
  const unsigned used = ledger.total();
  return {
      PURLIN_UNSUPPORTED,
      fmt::format("communicator {}: {} ranks need {} CTAs on {}, of whose {} there are {} left "
                  "beside {}. With several ranks of one communicator on a GPU all must be resident "
                  "together. Lower cta_budget, or destroy a communicator first",
                  request.name, request.local_ranks, needed, device.describe(), ledger.capacity,
                  used >= ledger.capacity ? 0 : ledger.capacity - used, others)};
}

}  // namespace

unsigned budget_share(const CudaDevice& device, unsigned local_ranks, bool overlapping) {
  const unsigned parts = std::max(1u, local_ranks) * (overlapping ? 2 : 1);
  return std::max(1u, static_cast<unsigned>(device.multiprocessors()) / parts);
}

Result<std::unique_ptr<BudgetClaim>> claim_budget(const CudaDevice& device,
                                                  const BudgetRequest& request) {
  const std::shared_ptr<Ledger> ledger = ledger_of(device);
  const std::lock_guard lock(ledger->mutex);
  const auto existing = ledger->shares.find(request.communicator);
  if (existing == ledger->shares.end()) {
    const unsigned needed = request.ctas * request.local_ranks * (request.overlapping ? 2 : 1);
    if (needed > ledger->capacity) {
      return refuse_alone(device, request, needed, ledger->capacity);
    }
    const bool crowded =
        std::any_of(ledger->shares.begin(), ledger->shares.end(),
                    [](const auto& share) { return share.second.local_ranks > 1; });
    if (ledger->total() + needed > ledger->capacity && (crowded || request.local_ranks > 1)) {
      return refuse_together(device, request, needed, *ledger);
    }
    ledger->shares[request.communicator] = {needed, request.local_ranks, {}, request.name};
  }
  return std::unique_ptr<BudgetClaim>(std::make_unique<Claim>(ledger, request.communicator));
}

Status check_residency(const LoadedProgram& program, unsigned grid, unsigned local_ranks) {
  const uint64_t multiprocessors = static_cast<uint64_t>(program.device().multiprocessors());
  const uint64_t resident = multiprocessors * program.blocks_per_multiprocessor();
  const uint64_t needed = static_cast<uint64_t>(grid) * local_ranks;
  if (needed <= resident) return {};
  return {PURLIN_UNSUPPORTED,
          fmt::format("{} on {}: {} CTAs for each of {} ranks cannot be resident together; {} "
                      "multiprocessors take {} each, {} in all. Lower cta_budget to {} or less",
                      program.shape().kernel, program.device().describe(), grid, local_ranks,
                      multiprocessors, program.blocks_per_multiprocessor(), resident,
                      resident / std::max(1u, local_ranks))};
}

}  // namespace purlin
