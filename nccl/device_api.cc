// The host's part of NCCL's device interface: teams are arithmetic, the rest is not offered.
#include "nccl/comm.h"
#include "nccl/errors.h"
#include "nccl/group.h"

namespace purlin::nccl {
namespace {

Result not_offered(const char* name) {
  return noted(fail(kInvalidUsage, std::string(name) +
                                       " is not offered: kernels that use NCCL's device interface "
                                       "know the inside of its communicators, and these are not "
                                       "NCCL's; use the functions that the host calls"));
}

Result not_offered(const char* name, CommHandle handle) {
  Result why = kSuccess;
  if (!find(handle, &why)) return noted(why);
  return not_offered(name);
}

// These functions have no way to report an error; of no communicator there are no ranks.
constexpr Team kNobody = {0, -1, 0};

std::shared_ptr<Comm> look_up(CommHandle handle) {
  Result why = kSuccess;
  return find(handle, &why);
}

}  // namespace
}  // namespace purlin::nccl

using namespace purlin::nccl;

PURLIN_NCCL_API(Team, TeamWorld, (CommHandle handle)) {
  const auto comm = look_up(handle);
  return comm ? Team{comm->nranks, comm->rank, 1} : kNobody;
}

// All ranks are of one machine and reach each other by loads and stores.
PURLIN_NCCL_API(Team, TeamLsa, (CommHandle handle)) {
  const auto comm = look_up(handle);
  return comm ? Team{comm->nranks, comm->rank, 1} : kNobody;
}

// Ranks of the same place in each load-store team: this rank alone.
PURLIN_NCCL_API(Team, TeamRail, (CommHandle handle)) {
  const auto comm = look_up(handle);
  return comm ? Team{1, 0, comm->nranks} : kNobody;
}

PURLIN_NCCL_API(int, TeamRankToWorld, (CommHandle handle, Team team, int rank)) {
  const auto comm = look_up(handle);
  return comm ? comm->rank + (rank - team.rank) * team.stride : -1;
}

PURLIN_NCCL_API(int, TeamRankToLsa, (CommHandle handle, Team team, int rank)) {
  const auto comm = look_up(handle);
  return comm ? comm->rank + (rank - team.rank) * team.stride : -1;
}

// A slot takes 8 bytes of an element.
PURLIN_NCCL_API(int, LLA2ACalcSlots, (int elements, int element_bytes)) {
  return elements * ((element_bytes + 7) / 8);
}

PURLIN_NCCL_API(Result, DevCommCreate, (CommHandle comm, const void*, void*)) {
  return not_offered("ncclDevCommCreate", comm);
}

PURLIN_NCCL_API(Result, DevCommDestroy, (CommHandle comm, const void*)) {
  return not_offered("ncclDevCommDestroy", comm);
}

PURLIN_NCCL_API(Result, LLA2ACreateRequirement, (int, int, void*, void*)) {
  return not_offered("ncclLLA2ACreateRequirement");
}

PURLIN_NCCL_API(Result, LsaBarrierCreateRequirement, (Team, int, void*, void*)) {
  return not_offered("ncclLsaBarrierCreateRequirement");
}

PURLIN_NCCL_API(Result, GinBarrierCreateRequirement, (CommHandle comm, Team, int, void*, void*)) {
  return not_offered("ncclGinBarrierCreateRequirement", comm);
}
