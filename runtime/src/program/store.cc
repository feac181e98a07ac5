#include "program/store.h"

#include <fmt/format.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>

#include "program/ladder.h"
#include "program/parallel.h"

namespace purlin {
namespace {

// One program on its way, or there. Guarded by the store's mutex.
struct Making {
  std::optional<ProgramOutcome> outcome;  // none while somebody works on it
};

}  // namespace

struct ProgramStore::State {
  explicit State(ProgramSources given) : sources(std::move(given)), tools(sources.libraries) {}

  // The making of this digest; `mine` when the caller has to do it.
  std::shared_ptr<Making> claim(const Digest& digest, bool& mine) {
    const std::lock_guard lock(mutex);
    auto& making = makings[digest];
    mine = making == nullptr;
    if (mine) making = std::make_shared<Making>();
    return making;
  }

  // Ends a making: a program stays, a failure is forgotten once its waiters have it.
  void settle(const Digest& digest, Making& making, ProgramOutcome outcome) {
    const std::lock_guard lock(mutex);
    if (!outcome.program) makings.erase(digest);
    making.outcome = std::move(outcome);
    settled.notify_all();
  }

  ProgramOutcome await(const Making& making) {
    std::unique_lock lock(mutex);
    settled.wait(lock, [&] { return making.outcome.has_value(); });
    return *making.outcome;
  }

  const ProgramSources sources;
  Toolbox tools;
  std::mutex mutex;
  std::condition_variable settled;
  std::map<Digest, std::shared_ptr<Making>> makings;
};

ProgramStore::ProgramStore(ProgramSources sources)
    : state_(std::make_unique<State>(std::move(sources))) {}
ProgramStore::~ProgramStore() = default;

const ProgramSources& ProgramStore::sources() const { return state_->sources; }

ProgramOutcome ProgramStore::get(const ProgramRequest& request) {
  return std::move(get_all(std::span(&request, 1)).front());
}

std::vector<ProgramOutcome> ProgramStore::get_all(std::span<const ProgramRequest> requests,
                                                  const Progress& progress) {
  struct Item {
    Digest digest{};
    std::shared_ptr<Making> making;  // none: the request was refused
    bool mine = false;
    bool pending = false;
    ProgramTrace trace;
    std::optional<ProgramOutcome> outcome;
  };
  std::vector<Item> items(requests.size());
  std::mutex progress_mutex;
  int done = 0;
  const auto finish = [&](size_t i, ProgramOutcome outcome) {
    Item& item = items[i];
    item.pending = false;
    item.outcome = outcome;
    if (item.mine) state_->settle(item.digest, *item.making, std::move(outcome));
    if (!progress) return;
    const std::lock_guard lock(progress_mutex);
    progress(++done, static_cast<int>(requests.size()), requests[i].name);
  };
  const auto work = [&](size_t i, WhenBusy busy) {
    auto result =
        climb(requests[i], items[i].digest, state_->sources, state_->tools, busy, items[i].trace);
    items[i].pending = !result;
    if (result)
      finish(i, {std::move(*result), items[i].trace});
    else
      items[i].trace = {};  // it is climbed again from the start
  };

  // First whatever nobody else is making, then what other processes are making, last what other
  // threads of this process are making: a thread that waits for another has settled all that is its
  // own, so two lists can never wait for each other.
  run_parallel(items.size(), state_->sources.jobs, [&](size_t i) {
    if (Status s = check_request(requests[i]); !s) return finish(i, {s, {}});
    items[i].digest = program_digest(requests[i]);
    items[i].making = state_->claim(items[i].digest, items[i].mine);
    if (items[i].mine) work(i, WhenBusy::kReturn);
  });
  run_parallel(items.size(), state_->sources.jobs, [&](size_t i) {
    if (items[i].pending) work(i, WhenBusy::kWait);
  });
  std::vector<ProgramOutcome> out;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].outcome) finish(i, state_->await(*items[i].making));
    out.push_back(std::move(*items[i].outcome));
  }
  return out;
}

ProgramHandle ProgramStore::find(const ProgramRequest& request) {
  if (!check_request(request)) return nullptr;
  if (auto there = peek(request)) return there;
  const Digest digest = program_digest(request);
  ProgramTrace trace;
  ProgramHandle found =
      find_finished(request, digest, state_->sources, state_->tools, trace);
  if (found == nullptr) return nullptr;
  // Kept, unless somebody makes it at this moment and will keep it.
  bool mine = false;
  const std::shared_ptr<Making> making = state_->claim(digest, mine);
  if (mine) state_->settle(digest, *making, {found, trace});
  return found;
}

ProgramHandle ProgramStore::peek(const ProgramRequest& request) const {
  const Digest digest = program_digest(request);
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->makings.find(digest);
  if (found == state_->makings.end() || !found->second->outcome) return nullptr;
  const auto& program = found->second->outcome->program;
  return program ? *program : nullptr;
}

ProgramStore& process_store() {
  static ProgramStore* store = new ProgramStore(ProgramSources::from_environment());
  return *store;  // never destroyed: communicators may outlive static objects
}

}  // namespace purlin
