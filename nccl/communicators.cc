// ncclGetUniqueId and ncclComm…: creation, end and what can be asked.
#include <vector>

#include "nccl/config.h"
#include "nccl/create.h"
#include "nccl/driver.h"
#include "nccl/errors.h"
#include "nccl/fallback.h"
#include "nccl/group.h"

namespace purlin::nccl {
namespace {

Membership membership(int nranks, int rank, const UniqueId& id) {
  Membership m;
  m.nranks = nranks;
  m.rank = rank;
  m.id = id;
  if (host_ranks()) return m;
  const CurrentDevice current = current_device();
  m.device = current.ordinal;
  m.context = current.context;
  return m;
}

Result init(CommHandle* out, int nranks, const UniqueId& id, int rank, const Config* config) {
  Membership m = membership(nranks, rank, id);
  if (const Result bad = read_config(config, &m.wishes); bad != kSuccess) return noted(bad);
  return create(m, out);
}

Result new_id(UniqueId* out) {
  purlin_unique_id ours;
  if (const Result bad = from_purlin(purlin_get_unique_id(&ours)); bad != kSuccess) return bad;
  std::copy(std::begin(ours.bytes), std::end(ours.bytes), out->bytes);
  std::string why;
  RealNccl* const real = RealNccl::get(&why);
  if (!why.empty()) return fail(kInvalidUsage, why);
  if (real == nullptr) return kSuccess;
  UniqueId theirs{};
  if (const Result bad = real->passed(real->GetUniqueId(&theirs)); bad != kSuccess) return bad;
  const auto joined = join_ids(ours, theirs);
  if (!joined)
    return fail(kInvalidUsage,
                "the real NCCL of PURLIN_NCCL_FALLBACK makes unique ids that do not fit beside "
                "Purlin's: use version 2.28, or unset the variable");
  *out = *joined;
  return kSuccess;
}

Result init_all(CommHandle* out, int count, const int* devices) {
  if (out == nullptr) return fail(kInvalidArgument, "comm is null");
  if (count < 1)
    return fail(kInvalidArgument, "ndev is " + std::to_string(count) + ", expected at least 1");
  UniqueId id{};
  if (const Result bad = new_id(&id); bad != kSuccess) return bad;
  start_group();
  for (int r = 0; r < count; ++r) {
    Membership m;
    m.nranks = count;
    m.rank = r;
    m.id = id;
    if (!host_ranks()) m.device = devices != nullptr ? devices[r] : r;
    if (create(m, &out[r]) != kSuccess) break;
  }
  const Result result = end_group();
  if (result == kSuccess) return result;
  for (int r = 0; r < count; ++r) {
    static_cast<void>(retire(out[r]));
    out[r] = nullptr;
  }
  return result;
}

// Own work is waited for, and nothing of the peers'.
Result finalize(Comm& comm) {
  if (comm.real != nullptr) return comm.real->passed(comm.real->CommFinalize(comm.real_comm));
  std::unique_lock lock(comm.mutex);
  if (comm.background.joinable()) comm.background.join();  // has made it, and touches it no more
  comm.leaving.clear();
  comm.state = State::kFinalized;
  if (comm.wishes.blocking) {
    lock.unlock();
    return give_back(comm);
  }
  comm.background_done = false;
  comm.background = std::thread([&comm] {
    static_cast<void>(give_back(comm));
    const std::lock_guard done(comm.mutex);
    comm.background_done = true;
  });
  return kInProgress;
}

Result async_error(Comm& comm) {
  {
    const std::lock_guard lock(comm.mutex);
    if (comm.state == State::kFinalized) return comm.background_done ? kSuccess : kInProgress;
    if (comm.state == State::kFailed) return comm.failed_with;
  }
  if (const Result state = readiness(comm); state != kSuccess) return state;
  if (comm.real != nullptr) {
    Result theirs = kSuccess;
    const Result asked = comm.real->CommGetAsyncError(comm.real_comm, &theirs);
    return asked != kSuccess ? asked : theirs;
  }
  const purlin_status status = purlin_comm_async_error(comm.purlin);
  const std::lock_guard lock(comm.mutex);
  if (status == PURLIN_OK || comm.told) return code_of(status);
  comm.told = true;
  return from_purlin(status);
}

template <class Real>
Result ask(CommHandle handle, int* out, int Comm::*member, Real real) {
  Result why = kSuccess;
  const auto comm = find(handle, &why);
  if (!comm) return why;
  if (out == nullptr) return fail(kInvalidArgument, "the place for the answer is null");
  const std::lock_guard lock(comm->mutex);
  if (comm->real != nullptr) return comm->real->passed(real(*comm->real, comm->real_comm));
  if (comm->nranks == 0)
    return fail(kInvalidUsage, "comm is still being split off; it has no rank and size yet");
  *out = (*comm).*member;
  return kSuccess;
}

}  // namespace
}  // namespace purlin::nccl

using namespace purlin::nccl;

PURLIN_NCCL_API(Result, GetUniqueId, (UniqueId * out)) {
  return out == nullptr ? fail(kInvalidArgument, "uniqueId is null") : new_id(out);
}

PURLIN_NCCL_API(Result, CommInitRank, (CommHandle * out, int nranks, UniqueId id, int rank)) {
  return init(out, nranks, id, rank, nullptr);
}

PURLIN_NCCL_API(Result, CommInitRankConfig,
                (CommHandle * out, int nranks, UniqueId id, int rank, Config* config)) {
  return init(out, nranks, id, rank, config);
}

PURLIN_NCCL_API(Result, CommInitRankScalable,
                (CommHandle * out, int nranks, int rank, int id_count, UniqueId* ids,
                 Config* config)) {
  if (ids == nullptr || id_count < 1)
    return noted(fail(kInvalidArgument, "commIds is null or nId is " + std::to_string(id_count) +
                                            ", expected at least one id"));
  return init(out, nranks, ids[0], rank, config);
}

PURLIN_NCCL_API(Result, CommInitAll, (CommHandle * out, int count, const int* devices)) {
  return noted(init_all(out, count, devices));
}

PURLIN_NCCL_API(Result, CommFinalize, (CommHandle handle)) {
  Result why = kSuccess;
  const auto comm = find_ready(handle, &why);
  return noted(comm ? finalize(*comm) : why);
}

PURLIN_NCCL_API(Result, CommDestroy, (CommHandle handle)) {
  Result why = kSuccess;
  if (handle == nullptr) return kSuccess;
  const auto comm = find(handle, &why);
  if (!comm) return noted(why);
  static_cast<void>(retire(handle));
  if (comm->real == nullptr) return kSuccess;  // ended with its last reference, here
  return comm->real->passed(comm->real->CommDestroy(comm->real_comm));
}

PURLIN_NCCL_API(Result, CommAbort, (CommHandle handle)) {
  Result why = kSuccess;
  if (handle == nullptr) return kSuccess;
  const auto comm = find(handle, &why);
  if (!comm) return noted(why);
  static_cast<void>(retire(handle));
  if (comm->real != nullptr) return comm->real->passed(comm->real->CommAbort(comm->real_comm));
  const std::lock_guard lock(comm->mutex);
  if (comm->purlin == nullptr || comm->state == State::kFinalized) return kSuccess;
  return from_purlin(purlin_comm_abort(comm->purlin));
}

PURLIN_NCCL_API(Result, CommRevoke, (CommHandle handle, int)) {
  Result why = kSuccess;
  if (!find(handle, &why)) return noted(why);
  return noted(fail(kInvalidUsage,
                    "ncclCommRevoke is not offered: call ncclCommAbort, or ncclCommShrink with the "
                    "flag that aborts the parent"));
}

PURLIN_NCCL_API(Result, CommGetAsyncError, (CommHandle handle, Result* out)) {
  Result why = kSuccess;
  const auto comm = find(handle, &why);
  if (!comm) return why;
  if (out == nullptr) return fail(kInvalidArgument, "asyncError is null");
  *out = async_error(*comm);
  return kSuccess;
}

PURLIN_NCCL_API(Result, CommCount, (CommHandle handle, int* out)) {
  return ask(handle, out, &Comm::nranks,
             [out](const RealNccl& real, CommHandle comm) { return real.CommCount(comm, out); });
}

PURLIN_NCCL_API(Result, CommUserRank, (CommHandle handle, int* out)) {
  return ask(handle, out, &Comm::rank,
             [out](const RealNccl& real, CommHandle comm) { return real.CommUserRank(comm, out); });
}

PURLIN_NCCL_API(Result, CommCuDevice, (CommHandle handle, int* out)) {
  Result why = kSuccess;
  const auto comm = find(handle, &why);
  if (!comm) return why;
  if (out == nullptr) return fail(kInvalidArgument, "device is null");
  *out = comm->device;
  return kSuccess;
}
