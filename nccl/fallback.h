// A real NCCL for communicators that Purlin cannot carry, named by PURLIN_NCCL_FALLBACK.
#pragma once

#include <string>

#include "nccl/abi.h"

namespace purlin::nccl {

// Name without "nccl", parameters; each returns a Result.
#define PURLIN_REAL_NCCL(CALL)                                                      \
  CALL(GetUniqueId, (UniqueId*))                                                    \
  CALL(CommInitRankConfig, (CommHandle*, int, UniqueId, int, Config*))              \
  CALL(CommSplit, (CommHandle, int, int, CommHandle*, Config*))                     \
  CALL(CommShrink, (CommHandle, int*, int, CommHandle*, Config*, int))              \
  CALL(CommFinalize, (CommHandle))                                                  \
  CALL(CommDestroy, (CommHandle))                                                   \
  CALL(CommAbort, (CommHandle))                                                     \
  CALL(CommGetAsyncError, (CommHandle, Result*))                                    \
  CALL(CommCount, (CommHandle, int*))                                               \
  CALL(CommUserRank, (CommHandle, int*))                                            \
  CALL(CommRegister, (CommHandle, void*, size_t, void**))                           \
  CALL(CommDeregister, (CommHandle, void*))                                         \
  CALL(CommWindowRegister, (CommHandle, void*, size_t, WindowHandle*, int))         \
  CALL(CommWindowDeregister, (CommHandle, WindowHandle))                            \
  CALL(RedOpCreatePreMulSum, (int*, void*, Dtype, ScalarPlace, CommHandle))         \
  CALL(RedOpDestroy, (int, CommHandle))                                             \
  CALL(GroupStart, ())                                                              \
  CALL(GroupEnd, ())                                                                \
  CALL(AllReduce, (const void*, void*, size_t, Dtype, int, CommHandle, Stream))     \
  CALL(AllGather, (const void*, void*, size_t, Dtype, CommHandle, Stream))          \
  CALL(ReduceScatter, (const void*, void*, size_t, Dtype, int, CommHandle, Stream)) \
  CALL(AlltoAll, (const void*, void*, size_t, Dtype, CommHandle, Stream))           \
  CALL(Broadcast, (const void*, void*, size_t, Dtype, int, CommHandle, Stream))     \
  CALL(Reduce, (const void*, void*, size_t, Dtype, int, int, CommHandle, Stream))   \
  CALL(Gather, (const void*, void*, size_t, Dtype, int, CommHandle, Stream))        \
  CALL(Scatter, (const void*, void*, size_t, Dtype, int, CommHandle, Stream))       \
  CALL(Send, (const void*, size_t, Dtype, int, CommHandle, Stream))                 \
  CALL(Recv, (void*, size_t, Dtype, int, CommHandle, Stream))

// The library's functions, opened once and never closed.
class RealNccl {
 public:
  // Null when PURLIN_NCCL_FALLBACK names nothing; null and *why when what it names cannot be used.
  static RealNccl* get(std::string* why);
  // Null until get() has opened it.
  static RealNccl* opened();
  // Whether the launcher's environment tells of ranks on other machines.
  static bool several_machines();

  // `result`; of an error the library's text is remembered.
  Result passed(Result result) const;

#define PURLIN_REAL_NCCL_MEMBER(name, parameters) Result(*name) parameters = nullptr;
  PURLIN_REAL_NCCL(PURLIN_REAL_NCCL_MEMBER)
#undef PURLIN_REAL_NCCL_MEMBER
  const char* (*GetLastError)(CommHandle) = nullptr;

 private:
  RealNccl() = default;
  std::string open(const char* path);
};

}  // namespace purlin::nccl
