// libnccl.so.2 as programs load it, and ranks to try it with. Communicators are of CPU ranks.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "nccl/abi.h"

namespace purlin::test {

using namespace nccl;

#define PURLIN_TEST_NCCL(CALL)                                                              \
  CALL(Result, GetVersion, (int*))                                                          \
  CALL(Result, GetUniqueId, (UniqueId*))                                                    \
  CALL(const char*, GetErrorString, (Result))                                               \
  CALL(const char*, GetLastError, (CommHandle))                                             \
  CALL(void, ResetDebugInit, ())                                                            \
  CALL(Result, CommInitRank, (CommHandle*, int, UniqueId, int))                             \
  CALL(Result, CommInitRankConfig, (CommHandle*, int, UniqueId, int, void*))                \
  CALL(Result, CommInitRankScalable, (CommHandle*, int, int, int, UniqueId*, void*))        \
  CALL(Result, CommInitAll, (CommHandle*, int, const int*))                                 \
  CALL(Result, CommSplit, (CommHandle, int, int, CommHandle*, void*))                       \
  CALL(Result, CommShrink, (CommHandle, int*, int, CommHandle*, void*, int))                \
  CALL(Result, CommFinalize, (CommHandle))                                                  \
  CALL(Result, CommDestroy, (CommHandle))                                                   \
  CALL(Result, CommAbort, (CommHandle))                                                     \
  CALL(Result, CommRevoke, (CommHandle, int))                                               \
  CALL(Result, CommGetAsyncError, (CommHandle, Result*))                                    \
  CALL(Result, CommCount, (CommHandle, int*))                                               \
  CALL(Result, CommCuDevice, (CommHandle, int*))                                            \
  CALL(Result, CommUserRank, (CommHandle, int*))                                            \
  CALL(Result, GroupStart, ())                                                              \
  CALL(Result, GroupEnd, ())                                                                \
  CALL(Result, GroupSimulateEnd, (void*))                                                   \
  CALL(Result, AllReduce, (const void*, void*, size_t, Dtype, int, CommHandle, Stream))     \
  CALL(Result, AllGather, (const void*, void*, size_t, Dtype, CommHandle, Stream))          \
  CALL(Result, ReduceScatter, (const void*, void*, size_t, Dtype, int, CommHandle, Stream)) \
  CALL(Result, AlltoAll, (const void*, void*, size_t, Dtype, CommHandle, Stream))           \
  CALL(Result, Broadcast, (const void*, void*, size_t, Dtype, int, CommHandle, Stream))     \
  CALL(Result, Bcast, (void*, size_t, Dtype, int, CommHandle, Stream))                      \
  CALL(Result, Reduce, (const void*, void*, size_t, Dtype, int, int, CommHandle, Stream))   \
  CALL(Result, Gather, (const void*, void*, size_t, Dtype, int, CommHandle, Stream))        \
  CALL(Result, Scatter, (const void*, void*, size_t, Dtype, int, CommHandle, Stream))       \
  CALL(Result, Send, (const void*, size_t, Dtype, int, CommHandle, Stream))                 \
  CALL(Result, Recv, (void*, size_t, Dtype, int, CommHandle, Stream))                       \
  CALL(Result, RedOpCreatePreMulSum, (int*, const void*, Dtype, ScalarPlace, CommHandle))   \
  CALL(Result, RedOpDestroy, (int, CommHandle))                                             \
  CALL(Result, MemAlloc, (void**, size_t))                                                  \
  CALL(Result, MemFree, (void*))                                                            \
  CALL(Result, CommRegister, (CommHandle, void*, size_t, void**))                           \
  CALL(Result, CommDeregister, (CommHandle, void*))                                         \
  CALL(Result, CommWindowRegister, (CommHandle, void*, size_t, WindowHandle*, int))         \
  CALL(Result, CommWindowDeregister, (CommHandle, WindowHandle))                            \
  CALL(Result, DevCommCreate, (CommHandle, const void*, void*))                             \
  CALL(Result, DevCommDestroy, (CommHandle, const void*))                                   \
  CALL(Result, LLA2ACreateRequirement, (int, int, void*, void*))                            \
  CALL(Result, LsaBarrierCreateRequirement, (Team, int, void*, void*))                      \
  CALL(Result, GinBarrierCreateRequirement, (CommHandle, Team, int, void*, void*))          \
  CALL(int, LLA2ACalcSlots, (int, int))                                                     \
  CALL(Team, TeamWorld, (CommHandle))                                                       \
  CALL(Team, TeamLsa, (CommHandle))                                                         \
  CALL(Team, TeamRail, (CommHandle))                                                        \
  CALL(int, TeamRankToWorld, (CommHandle, Team, int))                                       \
  CALL(int, TeamRankToLsa, (CommHandle, Team, int))

struct Library {
#define PURLIN_TEST_NCCL_MEMBER(result, name, parameters) result(*name) parameters = nullptr;
  PURLIN_TEST_NCCL(PURLIN_TEST_NCCL_MEMBER)
#undef PURLIN_TEST_NCCL_MEMBER
};

// Opened once; the process's communicators are then of host ranks. Ends the process if it cannot.
const Library& lib();

// A configuration as NCCL 2.28.9's header makes it, with room for a member of the future.
struct WholeConfig {
  Config known;
  int later[8];
};
WholeConfig default_config();

// n ranks of this thread, made by one group and destroyed at the end.
class Ranks {
 public:
  explicit Ranks(int n);
  ~Ranks();
  Ranks(const Ranks&) = delete;

  int size() const { return static_cast<int>(comms_.size()); }
  CommHandle operator[](int r) const { return comms_[static_cast<size_t>(r)]; }
  CommHandle& operator[](int r) { return comms_[static_cast<size_t>(r)]; }
  // Calls call(rank) for all ranks in one group; the group's result. Each call must succeed.
  Result group(const std::function<Result(int)>& call) const;

 private:
  std::vector<CommHandle> comms_;
};

// Waits until comm is no longer in progress; what it is then.
Result wait_until_settled(CommHandle comm);

inline std::string last_text() { return lib().GetLastError(nullptr); }

}  // namespace purlin::test
