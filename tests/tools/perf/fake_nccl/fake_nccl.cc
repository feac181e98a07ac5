// A stand-in for NCCL's library that moves nothing and remembers what it was asked, as lines of
// text.
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <string>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

std::mutex mutex;
std::string all;

struct Id {
  char bytes[128];
};

int note(const char* call, size_t count, int dtype, int op, int peer, void* comm) {
  char text[128];
  std::snprintf(text, sizeof text, "%d: %s %zu type %d op %d peer %d\n", *static_cast<int*>(comm),
                call, count, dtype, op, peer);
  const std::lock_guard lock(mutex);
  all += text;
  return 0;
}

}  // namespace

// The lines so far, which are then forgotten. Valid until the next call.
EXPORT const char* fake_nccl_log() {
  static std::string taken;
  const std::lock_guard lock(mutex);
  taken = std::move(all);
  all.clear();
  return taken.c_str();
}

EXPORT int ncclGetVersion(int* version) {
  *version = 22809;
  return 0;
}
EXPORT const char* ncclGetErrorString(int) { return "an error of the stand-in"; }
EXPORT int ncclGetUniqueId(Id* id) {
  id->bytes[0] = 'x';
  return 0;
}
EXPORT int ncclCommInitRank(void** comm, int, Id id, int rank) {
  if (id.bytes[0] != 'x') return 4;
  *comm = new int(rank);
  return 0;
}
EXPORT int ncclCommDestroy(void* comm) {
  delete static_cast<int*>(comm);
  return 0;
}
EXPORT int ncclAllReduce(const void*, void*, size_t count, int dtype, int op, void* comm, void*) {
  return note("all_reduce", count, dtype, op, -1, comm);
}
EXPORT int ncclReduce(const void*, void*, size_t count, int dtype, int op, int root, void* comm,
                      void*) {
  return note("reduce", count, dtype, op, root, comm);
}
EXPORT int ncclReduceScatter(const void*, void*, size_t count, int dtype, int op, void* comm,
                             void*) {
  return note("reduce_scatter", count, dtype, op, -1, comm);
}
EXPORT int ncclAllGather(const void*, void*, size_t count, int dtype, void* comm, void*) {
  return note("all_gather", count, dtype, -1, -1, comm);
}
EXPORT int ncclBroadcast(const void*, void*, size_t count, int dtype, int root, void* comm, void*) {
  return note("broadcast", count, dtype, -1, root, comm);
}
EXPORT int ncclSend(const void*, size_t count, int dtype, int peer, void* comm, void*) {
  return note("send", count, dtype, -1, peer, comm);
}
EXPORT int ncclRecv(void*, size_t count, int dtype, int peer, void* comm, void*) {
  return note("recv", count, dtype, -1, peer, comm);
}
EXPORT int ncclGroupStart() { return 0; }
EXPORT int ncclGroupEnd() { return 0; }
