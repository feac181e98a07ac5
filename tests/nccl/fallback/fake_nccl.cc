// Stands for a real NCCL in the test of PURLIN_NCCL_FALLBACK: counts what reaches it, and calls its
// own exported functions from inside, as the real one does.
#include <cstdio>
#include <cstring>

#include "nccl/abi.h"
#include "nccl/fallback.h"

using namespace purlin::nccl;

namespace {

struct Counts {
  int groups = 0, inits = 0, reductions = 0, destroys = 0;
} counts;
int device_of_nobody = 0;
constexpr int kFakeVersion = 99999;

}  // namespace

extern "C" {

Result ncclGroupStart() { return ++counts.groups, kSuccess; }
Result ncclGroupEnd() { return kSuccess; }

Result ncclGetVersion(int* version) { return *version = kFakeVersion, kSuccess; }
const char* ncclGetLastError(CommHandle) { return "said by the fake"; }

Result ncclGetUniqueId(UniqueId* id) {
  std::memset(id->bytes, 0, sizeof id->bytes);
  std::strcpy(id->bytes, "an id of the fake");
  return kSuccess;
}

Result ncclCommInitRankConfig(CommHandle* comm, int nranks, UniqueId id, int rank, Config* config) {
  int version = 0;
  ncclGetVersion(&version);  // must come here, whoever else exports the name
  if (version != kFakeVersion) return kSystemError;
  if (std::strcmp(id.bytes, "an id of the fake") != 0 || config->magic != kConfigMagic ||
      rank >= nranks)
    return kInternalError;
  ++counts.inits;
  *comm = reinterpret_cast<CommHandle>(&device_of_nobody);
  return kSuccess;
}

Result ncclAllReduce(const void*, void*, size_t count, Dtype, int, CommHandle comm, Stream) {
  if (comm != reinterpret_cast<CommHandle>(&device_of_nobody)) return kInternalError;
  return count == 13 ? kRemoteError : (++counts.reductions, kSuccess);
}

Result ncclCommCount(CommHandle, int* count) { return *count = 77, kSuccess; }
Result ncclCommDestroy(CommHandle) { return ++counts.destroys, kSuccess; }

// What the test reads.
void fake_counts(int out[4]) {
  out[0] = counts.groups, out[1] = counts.inits, out[2] = counts.reductions,
  out[3] = counts.destroys;
}

// The rest is only looked up.
#define FAKE(name) \
  Result nccl##name() { return kInternalError; }
FAKE(CommSplit)
FAKE(CommShrink)
FAKE(CommFinalize)
FAKE(CommAbort)
FAKE(CommGetAsyncError)
FAKE(CommUserRank)
FAKE(CommRegister)
FAKE(CommDeregister)
FAKE(CommWindowRegister)
FAKE(CommWindowDeregister)
FAKE(RedOpCreatePreMulSum)
FAKE(RedOpDestroy)
FAKE(AllGather)
FAKE(ReduceScatter)
FAKE(AlltoAll)
FAKE(Broadcast)
FAKE(Reduce)
FAKE(Gather)
FAKE(Scatter)
FAKE(Send)
FAKE(Recv)
}
