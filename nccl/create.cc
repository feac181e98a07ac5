#include "nccl/create.h"

#include <cstring>

#include "nccl/describe.h"
#include "nccl/driver.h"
#include "nccl/errors.h"
#include "nccl/fallback.h"
#include "nccl/group.h"

namespace purlin::nccl {
namespace {

// Every rank meets the same obstacle, or waits in vain for one that did.
bool lies_outside(purlin_status status) {
  return status == PURLIN_UNSUPPORTED || status == PURLIN_TIMEOUT;
}

// The caller's mutex or nobody's other thread guards `comm`.
Result create_real(Comm& comm, RealNccl& real) {
  const Ids ids = part_ids(comm.id);
  if (!ids.has_real)
    return fail(
        kInvalidUsage,
        "the real NCCL of PURLIN_NCCL_FALLBACK cannot meet: the unique id was made where that "
        "variable was not set; set it for all ranks");
  Config config{};
  config.size = sizeof config;
  config.magic = kConfigMagic;
  config.version = kVersion;
  config.blocking = comm.wishes.blocking ? 1 : 0;
  config.cluster_size = config.min_ctas = config.split_share = config.traffic_class = kUndefined;
  config.max_ctas =
      comm.wishes.cta_budget == 0 ? kUndefined : static_cast<int>(comm.wishes.cta_budget);
  config.name = comm.wishes.name.empty() ? nullptr : comm.wishes.name.c_str();
  const CurrentDevice before = current_device();  // the real library takes the one that is current
  enter(comm.context == nullptr && comm.device >= 0 ? primary_context(comm.device) : comm.context);
  const Result result = real.passed(
      real.CommInitRankConfig(&comm.real_comm, comm.nranks, ids.real, comm.rank, &config));
  enter(before.context);
  if (result != kSuccess && result != kInProgress) return result;
  comm.real = &real;
  say("rank " + std::to_string(comm.rank) + " of " + std::to_string(comm.nranks) +
      ": carried by the real NCCL of PURLIN_NCCL_FALLBACK");
  return result;
}

purlin_comm_options options_for(const Comm& comm, const purlin_unique_id* id) {
  purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
  options.nranks = comm.nranks;
  options.rank = comm.rank;
  options.unique_id = id;
  options.device_kind = host_ranks() ? PURLIN_DEVICE_HOST : PURLIN_DEVICE_CUDA;
  options.device_ordinal = comm.device;
  options.cta_budget = comm.wishes.cta_budget;
  options.nonblocking = comm.wishes.blocking ? 0 : 1;
  options.name = comm.wishes.name.empty() ? nullptr : comm.wishes.name.c_str();
  return options;
}

// A real library answers for its own creation in the background.
Result settle(Comm& comm, Result result) {
  if (result == kSuccess || result == kInProgress) {
    const std::lock_guard lock(comm.mutex);
    comm.state = State::kReady;
    return result;
  }
  set_failed(comm, result);
  return result;
}

Result meet(Comm& comm) {
  std::string why;
  RealNccl* const real = RealNccl::get(&why);
  if (!why.empty()) return settle(comm, fail(kInvalidUsage, why));
  if (real != nullptr && RealNccl::several_machines())
    return settle(comm, create_real(comm, *real));
  const purlin_unique_id id = part_ids(comm.id).ours;
  const purlin_comm_options options = options_for(comm, &id);
  purlin_comm_t made = nullptr;
  const purlin_status status = purlin_comm_create(&made, &options);
  if (status == PURLIN_IN_PROGRESS) {
    const std::lock_guard lock(comm.mutex);
    comm.purlin = made;
    return kInProgress;
  }
  if (status == PURLIN_OK) {
    set_ready(comm, made);
    return kSuccess;
  }
  const Result result = from_purlin(status);
  if (real != nullptr && lies_outside(status)) return settle(comm, create_real(comm, *real));
  return settle(comm, result);
}

Result check(const Membership& m) {
  if (const Result bad = check_device_variable(); bad != kSuccess) return bad;
  if (m.nranks < 1)
    return fail(kInvalidArgument,
                "nranks is " + std::to_string(m.nranks) + ", expected at least 1");
  if (m.rank < 0 || m.rank >= m.nranks)
    return fail(kInvalidArgument, "rank is " + std::to_string(m.rank) + ", expected 0 to " +
                                      std::to_string(m.nranks - 1));
  return kSuccess;
}

}  // namespace

Result create(const Membership& membership, CommHandle* out) {
  if (out == nullptr) return noted(fail(kInvalidArgument, "comm is null"));
  *out = nullptr;
  if (const Result bad = check(membership); bad != kSuccess) return noted(bad);
  auto comm = std::make_shared<Comm>();
  comm->rank = membership.rank;
  comm->nranks = membership.nranks;
  comm->device = membership.device;
  comm->context = membership.context;
  comm->wishes = membership.wishes;
  comm->id = membership.id;
  comm->seed = part_ids(membership.id).ours;
  const CommHandle handle = publish(comm);
  *out = handle;
  const bool later = in_group();
  const Result result = together(comm, [comm] { return meet(*comm); });
  if (!later && result != kSuccess && result != kInProgress) {
    static_cast<void>(retire(handle));
    *out = nullptr;
  }
  return result;
}

void look_at_creation(Comm& comm) {
  const purlin_status status = purlin_comm_async_error(comm.purlin);
  if (status == PURLIN_IN_PROGRESS) return;
  if (status == PURLIN_OK) {
    comm.state = State::kReady;
    if (debug()) say(describe(comm));
    return;
  }
  comm.failed_with = from_purlin(status);
  comm.failure = last_error();
  comm.state = State::kFailed;
  static_cast<void>(purlin_comm_destroy(comm.purlin));
  comm.purlin = nullptr;
  std::string why;
  RealNccl* const real = RealNccl::get(&why);
  if (real == nullptr || !lies_outside(status)) return;
  const Result result = create_real(comm, *real);
  comm.state = result == kSuccess || result == kInProgress ? State::kReady : State::kFailed;
  if (comm.state == State::kFailed) comm.failure = last_error();
}

}  // namespace purlin::nccl
