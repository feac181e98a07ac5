// ncclAllReduce and its kin, ncclSend and ncclRecv.
#include "nccl/errors.h"
#include "nccl/fallback.h"
#include "nccl/group.h"
#include "nccl/reductions.h"

namespace purlin::nccl {
namespace {

struct Call {
  purlin_collective collective;
  const void* send;
  void* recv;
  size_t count;
  Dtype dtype;
  int root = 0;
  int op = kSum;
  bool reduces = false;
};

Result check_dtype(Dtype dtype) {
  if (is_dtype(dtype)) return kSuccess;
  return fail(kInvalidArgument, "datatype is " + std::to_string(dtype) + ", expected 0 to 11");
}

Result run_purlin(const std::shared_ptr<Comm>& comm, const Call& wanted, Stream stream) {
  if (const Result bad = check_dtype(wanted.dtype); bad != kSuccess) return bad;
  Reduction reduction;
  if (wanted.reduces) {
    const Result found = find_reduction(*comm, wanted.op, wanted.dtype, stream, &reduction);
    if (found != kSuccess) return found;
  }
  purlin_call call{};
  call.struct_size = sizeof call;
  call.collective = wanted.collective;
  call.dtype = wanted.dtype;
  call.op = reduction.op;
  call.root = wanted.root;
  call.send = wanted.send;
  call.recv = wanted.recv;
  call.count = wanted.count;
  call.scalar = reduction.op == PURLIN_PREMUL_SUM ? &reduction.scalar : nullptr;
  call.cta_budget = comm->call_budget;
  has_call(comm);
  return from_purlin(purlin_run(&call, comm->purlin, stream));
}

// `real` makes the same call of the real library.
template <class Real>
Result run(CommHandle handle, const Call& call, Stream stream, Real real) {
  Result why = kSuccess;
  const auto comm = find_ready(handle, &why);
  if (!comm) return noted(why);
  if (comm->real != nullptr) return noted(comm->real->passed(real(*comm->real, comm->real_comm)));
  return noted(run_purlin(comm, call, stream));
}

template <class Purlin, class Real>
Result pass(CommHandle handle, Dtype dtype, Purlin purlin, Real real) {
  Result why = kSuccess;
  const auto comm = find_ready(handle, &why);
  if (!comm) return noted(why);
  if (comm->real != nullptr) return noted(comm->real->passed(real(*comm->real, comm->real_comm)));
  if (const Result bad = check_dtype(dtype); bad != kSuccess) return noted(bad);
  has_call(comm);
  return noted(from_purlin(purlin(comm->purlin)));
}

}  // namespace
}  // namespace purlin::nccl

using namespace purlin::nccl;

PURLIN_NCCL_API(Result, AllReduce,
                (const void* send, void* recv, size_t count, Dtype dtype, int op, CommHandle comm,
                 Stream stream)) {
  return run(comm, {PURLIN_ALL_REDUCE, send, recv, count, dtype, 0, op, true}, stream,
             [&](const RealNccl& real, CommHandle real_comm) {
               return real.AllReduce(send, recv, count, dtype, op, real_comm, stream);
             });
}

PURLIN_NCCL_API(Result, AllGather,
                (const void* send, void* recv, size_t count, Dtype dtype, CommHandle comm,
                 Stream stream)) {
  return run(comm, {PURLIN_ALL_GATHER, send, recv, count, dtype}, stream,
             [&](const RealNccl& real, CommHandle real_comm) {
               return real.AllGather(send, recv, count, dtype, real_comm, stream);
             });
}

PURLIN_NCCL_API(Result, ReduceScatter,
                (const void* send, void* recv, size_t count, Dtype dtype, int op, CommHandle comm,
                 Stream stream)) {
  return run(comm, {PURLIN_REDUCE_SCATTER, send, recv, count, dtype, 0, op, true}, stream,
             [&](const RealNccl& real, CommHandle real_comm) {
               return real.ReduceScatter(send, recv, count, dtype, op, real_comm, stream);
             });
}

PURLIN_NCCL_API(Result, AlltoAll,
                (const void* send, void* recv, size_t count, Dtype dtype, CommHandle comm,
                 Stream stream)) {
  return run(comm, {PURLIN_ALL_TO_ALL, send, recv, count, dtype}, stream,
             [&](const RealNccl& real, CommHandle real_comm) {
               return real.AlltoAll(send, recv, count, dtype, real_comm, stream);
             });
}

PURLIN_NCCL_API(Result, Broadcast,
                (const void* send, void* recv, size_t count, Dtype dtype, int root, CommHandle comm,
                 Stream stream)) {
  return run(comm, {PURLIN_BROADCAST, send, recv, count, dtype, root}, stream,
             [&](const RealNccl& real, CommHandle real_comm) {
               return real.Broadcast(send, recv, count, dtype, root, real_comm, stream);
             });
}

PURLIN_NCCL_API(Result, Bcast,
                (void* buffer, size_t count, Dtype dtype, int root, CommHandle comm,
                 Stream stream)) {
  return run(comm, {PURLIN_BROADCAST, buffer, buffer, count, dtype, root}, stream,
             [&](const RealNccl& real, CommHandle real_comm) {
               return real.Broadcast(buffer, buffer, count, dtype, root, real_comm, stream);
             });
}

PURLIN_NCCL_API(Result, Reduce,
                (const void* send, void* recv, size_t count, Dtype dtype, int op, int root,
                 CommHandle comm, Stream stream)) {
  return run(comm, {PURLIN_REDUCE, send, recv, count, dtype, root, op, true}, stream,
             [&](const RealNccl& real, CommHandle real_comm) {
               return real.Reduce(send, recv, count, dtype, op, root, real_comm, stream);
             });
}

PURLIN_NCCL_API(Result, Gather,
                (const void* send, void* recv, size_t count, Dtype dtype, int root, CommHandle comm,
                 Stream stream)) {
  return run(comm, {PURLIN_GATHER, send, recv, count, dtype, root}, stream,
             [&](const RealNccl& real, CommHandle real_comm) {
               return real.Gather(send, recv, count, dtype, root, real_comm, stream);
             });
}

PURLIN_NCCL_API(Result, Scatter,
                (const void* send, void* recv, size_t count, Dtype dtype, int root, CommHandle comm,
                 Stream stream)) {
  return run(comm, {PURLIN_SCATTER, send, recv, count, dtype, root}, stream,
             [&](const RealNccl& real, CommHandle real_comm) {
               return real.Scatter(send, recv, count, dtype, root, real_comm, stream);
             });
}

PURLIN_NCCL_API(Result, Send,
                (const void* send, size_t count, Dtype dtype, int peer, CommHandle comm,
                 Stream stream)) {
  return pass(
      comm, dtype,
      [&](purlin_comm_t own) {
        return purlin_send(send, count, static_cast<purlin_dtype>(dtype), peer, own, stream);
      },
      [&](const RealNccl& real, CommHandle real_comm) {
        return real.Send(send, count, dtype, peer, real_comm, stream);
      });
}

PURLIN_NCCL_API(Result, Recv,
                (void* recv, size_t count, Dtype dtype, int peer, CommHandle comm, Stream stream)) {
  return pass(
      comm, dtype,
      [&](purlin_comm_t own) {
        return purlin_recv(recv, count, static_cast<purlin_dtype>(dtype), peer, own, stream);
      },
      [&](const RealNccl& real, CommHandle real_comm) {
        return real.Recv(recv, count, dtype, peer, real_comm, stream);
      });
}
