#include "nccl/comm.h"

#include <shared_mutex>
#include <unordered_map>

#include "nccl/create.h"
#include "nccl/describe.h"
#include "nccl/errors.h"

namespace purlin::nccl {
namespace {

struct Table {
  std::shared_mutex mutex;
  std::unordered_map<uintptr_t, std::shared_ptr<Comm>> comms;
  uintptr_t next = 0x1000;
};

// Never destroyed: programs destroy communicators while the process ends.
Table& table() {
  static Table* const instance = new Table;
  return *instance;
}

std::string text_of(CommHandle handle) {
  if (handle == nullptr) return "comm is null";
  return "comm is " + std::to_string(reinterpret_cast<uintptr_t>(handle)) +
         ", which is no communicator: it was never created, or it was destroyed or aborted already";
}

}  // namespace

Comm::~Comm() {
  leaving.clear();  // waits for them
  if (background.joinable()) background.join();
  if (state != State::kFinalized) static_cast<void>(give_back(*this));
}

Result give_back(Comm& comm) {
  if (comm.purlin == nullptr) return kSuccess;
  std::map<uint64_t, purlin_registration_t> registrations;
  {
    const std::lock_guard lock(comm.mutex);
    registrations.swap(comm.registrations);
  }
  Result result = kSuccess;
  const auto note = [&result](purlin_status status) {
    const Result next = from_purlin(status);
    if (result == kSuccess) result = next;
  };
  for (const auto& [number, made] : registrations)
    if (made != nullptr) note(purlin_comm_deregister(comm.purlin, made));
  note(purlin_comm_destroy(comm.purlin));
  return result;
}

Result readiness(Comm& comm) {
  const std::lock_guard lock(comm.mutex);
  if (comm.state == State::kForming && comm.purlin != nullptr) look_at_creation(comm);
  switch (comm.state) {
    case State::kForming:
      return kInProgress;
    case State::kReady:
      return kSuccess;
    case State::kFinalized:
      return fail(kInvalidUsage, "comm was finalized; all that may follow is ncclCommDestroy");
    case State::kFailed:
      return fail(comm.failed_with, comm.failure);
  }
  return kInternalError;
}

void set_failed(Comm& comm, Result result) {
  const std::lock_guard lock(comm.mutex);
  comm.failed_with = result;
  comm.failure = last_error();
  comm.state = State::kFailed;
}

void set_ready(Comm& comm, purlin_comm_t made) {
  {
    const std::lock_guard lock(comm.mutex);
    comm.purlin = made;
    comm.state = State::kReady;
  }
  if (debug()) say(describe(comm));
}

CommHandle publish(std::shared_ptr<Comm> comm) {
  Table& t = table();
  const std::unique_lock lock(t.mutex);
  const uintptr_t number = t.next;
  t.next += 0x10;
  t.comms.emplace(number, std::move(comm));
  return reinterpret_cast<CommHandle>(number);
}

std::shared_ptr<Comm> retire(CommHandle handle) {
  Table& t = table();
  const std::unique_lock lock(t.mutex);
  auto node = t.comms.extract(reinterpret_cast<uintptr_t>(handle));
  return node.empty() ? nullptr : std::move(node.mapped());
}

std::shared_ptr<Comm> find(CommHandle handle, Result* why) {
  {
    Table& t = table();
    const std::shared_lock lock(t.mutex);
    const auto found = t.comms.find(reinterpret_cast<uintptr_t>(handle));
    if (found != t.comms.end()) return found->second;
  }
  *why = fail(kInvalidArgument, text_of(handle));
  return nullptr;
}

std::shared_ptr<Comm> find_ready(CommHandle handle, Result* why) {
  std::shared_ptr<Comm> comm = find(handle, why);
  if (!comm) return nullptr;
  *why = readiness(*comm);
  if (*why == kSuccess) return comm;
  if (*why == kInProgress)
    *why =
        fail(kInvalidUsage,
             "comm is still being created; call ncclCommGetAsyncError until it gives ncclSuccess");
  return nullptr;
}

}  // namespace purlin::nccl
