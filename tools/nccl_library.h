// NCCL, opened at run time: the calls that a comparison makes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "purlin/purlin.h"
#include "tools/outcome.h"

namespace purlin::tools {

using NcclComm = void*;
using NcclWindow = void*;
struct NcclUniqueId {
  char bytes[128];
};

// Name here, exported symbol, parameters. Element types have the values of purlin_dtype.
#define PURLIN_TOOLS_NCCL_CALLS(CALL)                                                              \
  CALL(get_version, ncclGetVersion, (int* version))                                                \
  CALL(get_unique_id, ncclGetUniqueId, (NcclUniqueId * id))                                        \
  CALL(comm_init_rank, ncclCommInitRank, (NcclComm * comm, int nranks, NcclUniqueId id, int rank)) \
  CALL(comm_destroy, ncclCommDestroy, (NcclComm comm))                                             \
  CALL(all_reduce, ncclAllReduce,                                                                  \
       (const void* send, void* recv, size_t count, int dtype, int op, NcclComm comm,              \
        purlin_stream_t stream))                                                                   \
  CALL(reduce, ncclReduce,                                                                         \
       (const void* send, void* recv, size_t count, int dtype, int op, int root, NcclComm comm,    \
        purlin_stream_t stream))                                                                   \
  CALL(reduce_scatter, ncclReduceScatter,                                                          \
       (const void* send, void* recv, size_t count, int dtype, int op, NcclComm comm,              \
        purlin_stream_t stream))                                                                   \
  CALL(all_gather, ncclAllGather,                                                                  \
       (const void* send, void* recv, size_t count, int dtype, NcclComm comm,                      \
        purlin_stream_t stream))                                                                   \
  CALL(broadcast, ncclBroadcast,                                                                   \
       (const void* send, void* recv, size_t count, int dtype, int root, NcclComm comm,            \
        purlin_stream_t stream))                                                                   \
  CALL(send, ncclSend,                                                                             \
       (const void* send, size_t count, int dtype, int peer, NcclComm comm,                        \
        purlin_stream_t stream))                                                                   \
  CALL(recv, ncclRecv,                                                                             \
       (void* recv, size_t count, int dtype, int peer, NcclComm comm, purlin_stream_t stream))     \
  CALL(group_start, ncclGroupStart, ())                                                            \
  CALL(group_end, ncclGroupEnd, ())

// Calls that older versions lack.
#define PURLIN_TOOLS_NCCL_OPTIONAL_CALLS(CALL)                                     \
  CALL(all_to_all, ncclAlltoAll,                                                   \
       (const void* send, void* recv, size_t count, int dtype, NcclComm comm,      \
        purlin_stream_t stream))                                                   \
  CALL(mem_alloc, ncclMemAlloc, (void** memory, size_t bytes))                     \
  CALL(mem_free, ncclMemFree, (void* memory))                                      \
  CALL(window_register, ncclCommWindowRegister,                                    \
       (NcclComm comm, void* memory, size_t bytes, NcclWindow* window, int flags)) \
  CALL(window_deregister, ncclCommWindowDeregister, (NcclComm comm, NcclWindow window))

class NcclLibrary {
 public:
  // `file`: a path or a name for the loader. The library stays open until the process ends.
  static Outcome<std::unique_ptr<const NcclLibrary>> open(const std::string& file);

  std::string version() const;  // "2.28.9"

#define CALL(name, symbol, parameters) int(*name) parameters = nullptr;
  PURLIN_TOOLS_NCCL_CALLS(CALL)
  PURLIN_TOOLS_NCCL_OPTIONAL_CALLS(CALL)
#undef CALL
  Done check(const char* what, int result) const;

 private:
  NcclLibrary() = default;
  const char* (*error_string_)(int result) = nullptr;
};

}  // namespace purlin::tools
