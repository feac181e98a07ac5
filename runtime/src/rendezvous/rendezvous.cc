#include "rendezvous/rendezvous.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

#include "rendezvous/exchange.h"
#include "rendezvous/failure.h"
#include "rendezvous/lifeline.h"
#include "rendezvous/meeting.h"
#include "rendezvous/watcher.h"

namespace purlin {

struct Rendezvous::State {
  JoinOptions options;
  pid_t owner = ::getpid();
  Identity communicator{};
  Address reunion;
  std::shared_ptr<LivenessRecord> record;
  std::optional<Liveness> liveness;

  std::mutex mutex;              // below: of exchanges
  std::optional<Circle> circle;  // none while parked
  uint64_t sequence = 0;         // of the last exchange
  Status broken;

  const Roster& roster() const { return record->roster(); }
  Status found(Circle made);
  Status subscribe(std::vector<Circle::Line> lines);
  Result<std::vector<Contribution>> exchange(ExchangeKind kind, std::span<const std::byte> bytes,
                                             std::span<const int> descriptors);
  Status meet_again(const Limit& limit);
  Limit limit() const { return Limit(options.timeout, options.cancelled, options.stop); }
  Status with_context(const Status& status) const {
    return status.with_context(
        fmt::format("{} (rank {} of {})", options.name, options.rank, options.nranks));
  }
};

namespace {

Status check(const JoinOptions& options) {
  if (options.nranks < 1 || options.nranks > PURLIN_MAX_RANKS)
    return {PURLIN_INVALID_ARGUMENT, fmt::format("{} ranks asked for; 1 to {} are possible",
                                                 options.nranks, PURLIN_MAX_RANKS)};
  if (options.rank < 0 || options.rank >= options.nranks)
    return {PURLIN_INVALID_ARGUMENT,
            fmt::format("rank {} is not one of 0 to {}", options.rank, options.nranks - 1)};
  if (options.timeout.count() <= 0)
    return {PURLIN_INVALID_ARGUMENT,
            fmt::format("a timeout of {} ms; it must be positive", options.timeout.count())};
  return {};
}

// A peer may be stopped, and say so, before this rank's own word has been written.
void await_own_stop(const Status& failed, const Limit& limit) {
  if (failed.code() != PURLIN_ABORTED || !limit.can_be_stopped()) return;
  while (!limit.cancelled() && !limit.passed())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// What `meet` would bring if there were anybody to meet.
Result<Circle> circle_of_one() {
  Circle circle;
  const auto process = process_identity();
  if (!process) return process.status();
  PURLIN_RETURN_IF_ERROR(fill_random(circle.communicator));
  circle.roster.seats.push_back({process.value(), ::getpid()});
  circle.channels.resize(1);
  auto control = ControlBlock::create(1);
  if (!control) return control.status();
  circle.control = control->take_fd();
  return circle;
}

}  // namespace

// Takes over what a meeting has made.
Status Rendezvous::State::found(Circle made) {
  auto control = ControlBlock::adopt(std::move(made.control), options.nranks);
  if (!control) return control.status();
  (void)control->take_fd();
  communicator = made.communicator;
  reunion = address_of_members(communicator, made.token, options.address.token_used);
  record = std::make_shared<LivenessRecord>(std::move(made.roster), std::move(control).value());
  liveness.emplace(record);
  auto lines = std::move(made.lines);
  circle.emplace(std::move(made));
  return subscribe(std::move(lines));
}

Status Rendezvous::State::subscribe(std::vector<Circle::Line> lines) {
  for (Circle::Line& line : lines)
    PURLIN_RETURN_IF_ERROR(watch(line.process, std::move(line.lifeline), record));
  return {};
}

Status Rendezvous::State::meet_again(const Limit& limit) {
  auto again = meet({reunion, options.rank, options.nranks, limit, record.get(), sequence});
  if (!again) return again.status();
  circle.emplace(std::move(again).value());
  return {};
}

Result<std::vector<Contribution>> Rendezvous::State::exchange(ExchangeKind kind,
                                                              std::span<const std::byte> bytes,
                                                              std::span<const int> descriptors) {
  if (::getpid() != owner)
    return with_context(Status(
        PURLIN_INVALID_USAGE,
        fmt::format("it belongs to process {} and cannot be used in process {}, a child made "
                    "by fork: create a new communicator there",
                    owner, ::getpid())));
  const std::lock_guard lock(mutex);
  if (!broken) return broken;
  ++sequence;
  std::vector<Contribution> all(1);
  Status failed;
  if (options.nranks == 1) {
    all[0].bytes.assign(bytes.begin(), bytes.end());
  } else {
    const Limit limit = this->limit();
    if (!circle) failed = meet_again(limit);
    if (failed) {
      auto result = purlin::exchange(*circle, {kind, sequence, bytes, descriptors, limit}, *record);
      if (result)
        all = std::move(result).value();
      else
        failed = result.status();
    }
    await_own_stop(failed, limit);
  }
  // A rank gets its own descriptors as duplicates, so that all ranks own what they are given.
  for (size_t i = 0; failed && i < descriptors.size(); ++i) {
    OwnedFd own(::fcntl(descriptors[i], F_DUPFD_CLOEXEC, 3));
    if (!own)
      failed = socket_error("duplicating a descriptor for " + roster().describe(options.rank));
    all[static_cast<size_t>(options.rank)].descriptors.push_back(std::move(own));
  }
  if (failed) return all;
  broken = with_context(failed);
  circle.reset();
  return broken;
}

Rendezvous::Rendezvous(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Rendezvous>> Rendezvous::join(const JoinOptions& options) {
  auto state = std::make_unique<State>();
  state->options = options;
  if (Status bad = check(options); !bad) return state->with_context(bad);
  const Limit limit = state->limit();
  auto circle = options.nranks == 1
                    ? circle_of_one()
                    : meet({options.address, options.rank, options.nranks, limit, nullptr, 0});
  if (!circle) {
    await_own_stop(circle.status(), limit);
    return state->with_context(circle.status());
  }
  State& seat = *state;
  std::unique_ptr<Rendezvous> joined(new Rendezvous(std::move(state)));
  // All hear of it when one cannot go on, so that a join succeeds everywhere or nowhere.
  const Status founded = seat.found(std::move(circle).value());
  if (!seat.record) return seat.with_context(founded);
  PURLIN_RETURN_IF_ERROR(joined->agree(founded));
  return joined;
}

Rendezvous::~Rendezvous() {
  if (!state_->record || ::getpid() != state_->owner) return;
  leave();
  unwatch(state_->record);
}

int Rendezvous::rank() const { return state_->options.rank; }
int Rendezvous::size() const { return state_->options.nranks; }
const Identity& Rendezvous::identity() const { return state_->communicator; }
bool Rendezvous::token_used() const { return state_->options.address.token_used; }
Liveness& Rendezvous::liveness() { return *state_->liveness; }

pid_t Rendezvous::process_of(int rank) const {
  return state_->roster().seats[static_cast<size_t>(rank)].pid;
}

bool Rendezvous::same_process(int rank) const { return state_->roster().same_process(rank); }

Result<std::vector<Blob>> Rendezvous::all_gather_blob(std::span<const std::byte> mine) {
  auto all = state_->exchange(ExchangeKind::kBlobs, mine, {});
  if (!all) return all.status();
  std::vector<Blob> blobs;
  for (Contribution& given : *all) blobs.push_back(std::move(given.bytes));
  return blobs;
}

Result<std::vector<std::vector<OwnedFd>>> Rendezvous::all_gather_fds(std::span<const int> mine) {
  auto all = state_->exchange(ExchangeKind::kDescriptors, {}, mine);
  if (!all) return all.status();
  std::vector<std::vector<OwnedFd>> descriptors;
  for (Contribution& given : *all) descriptors.push_back(std::move(given.descriptors));
  return descriptors;
}

Result<std::vector<OwnedFd>> Rendezvous::broadcast_fds(int root, std::span<const int> mine) {
  if (root < 0 || root >= size())
    return state_->with_context(Status(
        PURLIN_INVALID_ARGUMENT, fmt::format("root {} is not one of 0 to {}", root, size() - 1)));
  if (rank() != root) mine = {};
  auto all = state_->exchange(ExchangeKind::kBroadcastDescriptors, {}, mine);
  if (!all) return all.status();
  return std::move((*all)[static_cast<size_t>(root)].descriptors);
}

Status Rendezvous::barrier() {
  const auto all = state_->exchange(ExchangeKind::kBarrier, {}, {});
  return all ? Status() : all.status();
}

Status Rendezvous::agree(const Status& mine) {
  std::vector<std::byte> bytes;
  if (!mine) bytes = encode(Failure{mine, rank()});
  const auto all = state_->exchange(ExchangeKind::kAgreement, bytes, {});
  if (!all) return all.status();
  for (size_t r = 0; r < all->size(); ++r)
    if (!(*all)[r].bytes.empty())
      return decode_failure((*all)[r].bytes).status.with_context(fmt::format("rank {}", r));
  return {};
}

Status Rendezvous::park() {
  if (::getpid() != state_->owner) return barrier();  // says why not
  const std::lock_guard lock(state_->mutex);
  state_->circle.reset();
  return state_->broken;
}

void Rendezvous::heed(const uint32_t* stop) {
  const std::lock_guard lock(state_->mutex);
  state_->options.stop = stop;
}

void Rendezvous::leave() {
  if (::getpid() == state_->owner) state_->record->control().mark_left(rank());
}

}  // namespace purlin
