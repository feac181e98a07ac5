// purlin_run and the functions that fill a purlin_call for it.
#include "api/group.h"
#include "status/last_error.h"

namespace purlin {
namespace {

Status run(const purlin_call* call, purlin_comm_t comm, purlin_stream_t stream) {
  if (call == nullptr) return Status(PURLIN_INVALID_ARGUMENT, "call is null");
  auto handle = ready_handle(comm);
  if (!handle) return handle.status();
  if (in_group()) return add_to_group(std::move(*handle), *call, stream);
  return (*handle)->communicator->run(*call, stream);
}

Status run_alone(const purlin_call* call, const purlin_call* everyone, purlin_comm_t comm,
                 purlin_stream_t stream) {
  if (call == nullptr) return Status(PURLIN_INVALID_ARGUMENT, "call is null");
  auto handle = ready_handle(comm);
  if (!handle) return handle.status();
  if (in_group())
    return Status(PURLIN_INVALID_USAGE, "a rank cannot run alone within a group; end the group first");
  Communicator& communicator = *(*handle)->communicator;
  const auto ranks = everyone == nullptr ? 0 : static_cast<size_t>(communicator.size());
  return communicator.run_alone(*call, {everyone, ranks}, stream);
}

purlin_call start(int collective, const void* send, void* recv, uint64_t count, purlin_dtype dtype) {
  purlin_call call{};
  call.struct_size = sizeof call;
  call.collective = collective;
  call.dtype = dtype;
  call.send = send;
  call.recv = recv;
  call.count = count;
  return call;
}

}  // namespace
}  // namespace purlin

using purlin::start;

extern "C" {

purlin_status purlin_run(const purlin_call* call, purlin_comm_t comm, purlin_stream_t stream) {
  return purlin::remember(purlin::run(call, comm, stream));
}

purlin_status purlin_run_alone(const purlin_call* call, const purlin_call* everyone, purlin_comm_t comm,
                               purlin_stream_t stream) {
  return purlin::remember(purlin::run_alone(call, everyone, comm, stream));
}

purlin_status purlin_all_gather(const void* send, void* recv, uint64_t send_count,
                                purlin_dtype dtype, purlin_comm_t comm, purlin_stream_t stream) {
  const purlin_call call = start(PURLIN_ALL_GATHER, send, recv, send_count, dtype);
  return purlin_run(&call, comm, stream);
}

purlin_status purlin_reduce_scatter(const void* send, void* recv, uint64_t recv_count,
                                    purlin_dtype dtype, purlin_op op, purlin_comm_t comm,
                                    purlin_stream_t stream) {
  purlin_call call = start(PURLIN_REDUCE_SCATTER, send, recv, recv_count, dtype);
  call.op = op;
  return purlin_run(&call, comm, stream);
}

purlin_status purlin_all_reduce(const void* send, void* recv, uint64_t count, purlin_dtype dtype,
                                purlin_op op, purlin_comm_t comm, purlin_stream_t stream) {
  purlin_call call = start(PURLIN_ALL_REDUCE, send, recv, count, dtype);
  call.op = op;
  return purlin_run(&call, comm, stream);
}

purlin_status purlin_all_to_all(const void* send, void* recv, uint64_t count, purlin_dtype dtype,
                                purlin_comm_t comm, purlin_stream_t stream) {
  const purlin_call call = start(PURLIN_ALL_TO_ALL, send, recv, count, dtype);
  return purlin_run(&call, comm, stream);
}

purlin_status purlin_all_gather_v(const void* send, uint64_t send_count, void* recv,
                                  const uint64_t* recv_counts, const uint64_t* recv_displs,
                                  purlin_dtype dtype, purlin_comm_t comm, purlin_stream_t stream) {
  purlin_call call = start(PURLIN_ALL_GATHER_V, send, recv, send_count, dtype);
  call.recv_counts = recv_counts;
  call.recv_displs = recv_displs;
  return purlin_run(&call, comm, stream);
}

purlin_status purlin_reduce_scatter_v(const void* send, const uint64_t* send_counts,
                                      const uint64_t* send_displs, void* recv, purlin_dtype dtype,
                                      purlin_op op, purlin_comm_t comm, purlin_stream_t stream) {
  purlin_call call = start(PURLIN_REDUCE_SCATTER_V, send, recv, 0, dtype);
  call.op = op;
  call.send_counts = send_counts;
  call.send_displs = send_displs;
  return purlin_run(&call, comm, stream);
}

purlin_status purlin_all_to_all_v(const void* send, const uint64_t* send_counts,
                                  const uint64_t* send_displs, void* recv,
                                  const uint64_t* recv_counts, const uint64_t* recv_displs,
                                  purlin_dtype dtype, purlin_comm_t comm, purlin_stream_t stream) {
  purlin_call call = start(PURLIN_ALL_TO_ALL_V, send, recv, 0, dtype);
  call.send_counts = send_counts;
  call.send_displs = send_displs;
  call.recv_counts = recv_counts;
  call.recv_displs = recv_displs;
  return purlin_run(&call, comm, stream);
}

purlin_status purlin_broadcast(const void* send, void* recv, uint64_t count, purlin_dtype dtype,
                               int root, purlin_comm_t comm, purlin_stream_t stream) {
  purlin_call call = start(PURLIN_BROADCAST, send, recv, count, dtype);
  call.root = root;
  return purlin_run(&call, comm, stream);
}

purlin_status purlin_reduce(const void* send, void* recv, uint64_t count, purlin_dtype dtype,
                            purlin_op op, int root, purlin_comm_t comm, purlin_stream_t stream) {
  purlin_call call = start(PURLIN_REDUCE, send, recv, count, dtype);
  call.op = op;
  call.root = root;
  return purlin_run(&call, comm, stream);
}

purlin_status purlin_scatter(const void* send, void* recv, uint64_t count, purlin_dtype dtype,
                             int root, purlin_comm_t comm, purlin_stream_t stream) {
  purlin_call call = start(PURLIN_SCATTER, send, recv, count, dtype);
  call.root = root;
  return purlin_run(&call, comm, stream);
}

purlin_status purlin_gather(const void* send, void* recv, uint64_t count, purlin_dtype dtype,
                            int root, purlin_comm_t comm, purlin_stream_t stream) {
  purlin_call call = start(PURLIN_GATHER, send, recv, count, dtype);
  call.root = root;
  return purlin_run(&call, comm, stream);
}

purlin_status purlin_barrier(purlin_comm_t comm, purlin_stream_t stream) {
  const purlin_call call = start(PURLIN_BARRIER, nullptr, nullptr, 0, PURLIN_U8);
  return purlin_run(&call, comm, stream);
}

}  // extern "C"
