// Which CTAs may be resident on a GPU together: the grids of all ranks of this process share one
// budget per device, so that no rank's grid keeps a peer's from starting.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "device/cuda_device.h"

namespace purlin {

struct BudgetRequest {
  uint64_t communicator = 0;  // the same for all ranks of a communicator, different between them
  unsigned local_ranks = 1;   // ranks of that communicator on this device
  unsigned ctas = 0;          // the largest grid that a rank launches
  bool overlapping = false;   // its programs let the next launch begin early, hence count twice
  std::string name;           // of the communicator, for messages
};

// A rank's claim; given back when it goes. The communicator's share is freed with its last claim.
class BudgetClaim {
 public:
  virtual ~BudgetClaim() = default;
  // True while the communicators of this device cannot all be resident together: launches then
  // pass the device's order one after the other. Changes as communicators come and go.
  virtual bool must_chain() const = 0;

  // Around each launch that every rank of the communicator makes; one that needs fewer counts those of its
  // peers. Ranks that share the device keep in step, since a launch behind one that waits for a peer may hold up the peer's on its way into the
  // device. `await_peers` returns when every rank here has launched as often as this one, or after
  // kPace: one thread may be issuing for several ranks, one after the other.
  static constexpr std::chrono::milliseconds kPace{2};
  virtual void await_peers() const = 0;
  virtual void count_launches(unsigned count) = 0;
};

// CTAs that one rank may launch when `local_ranks` share the device: multiprocessors over ranks,
// halved for overlapping programs, at least 1.
unsigned budget_share(const CudaDevice& device, unsigned local_ranks, bool overlapping);

// Claims for one rank. The first rank of a communicator claims for all its ranks on the device.
// Thread-safe; the budget is one for each device (by UUID) in the process.
// PURLIN_UNSUPPORTED, with the figures: the ranks of this communicator do not fit the device
// together; or with the communicators already there they do not fit, and one of them has several
// ranks here, so that no order of launches would let all of them finish.
Result<std::unique_ptr<BudgetClaim>> claim_budget(const CudaDevice& device,
                                                  const BudgetRequest& request);

// Refuses a grid that cannot be resident for this program: PURLIN_UNSUPPORTED with multiprocessors,
// CTAs a multiprocessor and ranks on the device.
class LoadedProgram;
Status check_residency(const LoadedProgram& program, unsigned grid, unsigned local_ranks);

}  // namespace purlin
