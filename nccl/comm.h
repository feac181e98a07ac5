// Communicators behind NCCL's handles.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "nccl/abi.h"
#include "nccl/identity.h"
#include "purlin/purlin.h"

namespace purlin::nccl {

class RealNccl;

// What a caller asked of a communicator.
struct Wishes {
  bool blocking = true;
  unsigned cta_budget = 0;  // 0: the policy's
  std::string name;
};

// A pre-multiplied sum.
struct ScaledSum {
  Dtype dtype = 0;
  uint64_t bits = 0;                // the factor in the accumulation type
  const void* on_device = nullptr;  // or where it lies in device memory, to be read at each call
};

enum class State { kForming, kReady, kFailed, kFinalized };

struct Comm {
  // Constant once the state is kReady; of those made from an id, once the handle is published.
  int rank = 0;
  int nranks = 0;           // 0: not known yet
  int device = -1;          // CUDA ordinal; -1 on host ranks
  void* context = nullptr;  // CUDA context that was current when it was made
  Wishes wishes;
  UniqueId id{};             // of those made from one; what a real library would need
  std::optional<Seed> seed;  // known to all ranks of this communicator, and to no other
  unsigned call_budget = 0;  // CTAs of each call, where the communicator itself does not limit them

  std::mutex
      mutex;  // guards what follows; `purlin` and `real*` are constant once the state is kReady
  State state = State::kForming;
  purlin_comm_t purlin = nullptr;
  RealNccl* real = nullptr;  // set: `real_comm` of that library carries the calls
  CommHandle real_comm = nullptr;
  Result failed_with = kSuccess;
  std::string failure;
  bool told = false;                     // the error that broke it has been reported
  uint64_t splits = 0;                   // made from it, the same number on every rank
  std::map<uint64_t, uint64_t> shrinks;  // the same, by what was left out
  std::map<int, ScaledSum> ops;
  int next_op = kFirstOwnOp;
  std::map<uint64_t, purlin_registration_t> registrations;  // null: a note only, calls are staged
  uint64_t next_registration = 1;
  std::vector<std::shared_ptr<Comm>>
      leaving;             // splits of it, going on, that this rank does not join
  std::thread background;  // makes it by a split, or finalizes it, while nobody waits
  bool background_done = true;

  // Waits for own work and gives back what purlin holds.
  ~Comm();
};

// Gives back the registrations, waits for own work and frees purlin's communicator; once at most,
// by whoever ends `comm`. Its mutex is not held.
Result give_back(Comm& comm);

// kSuccess when calls may be made; kInProgress while it is being made; kInvalidUsage once
// finalized; or why it could not be made. The text of an error is remembered. Moves a creation
// forward.
Result readiness(Comm& comm);

// Records how its making ended. Not for a communicator whose mutex the caller holds.
void set_failed(Comm& comm, Result result);
void set_ready(Comm& comm, purlin_comm_t made);

// Handles are numbers and never used twice, so that one that is no longer valid is always noticed.
CommHandle publish(std::shared_ptr<Comm> comm);
// Takes a handle out of use. Null when it is none.
std::shared_ptr<Comm> retire(CommHandle handle);
// Null, and kInvalidArgument in *why with its text remembered, when `handle` is no communicator.
std::shared_ptr<Comm> find(CommHandle handle, Result* why);
// The same, and kInvalidUsage when it is not ready for calls, or why it could not be made.
std::shared_ptr<Comm> find_ready(CommHandle handle, Result* why);

}  // namespace purlin::nccl
