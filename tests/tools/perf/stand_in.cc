#include "stand_in.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "purlin/purlin.h"
#include "tools/names.h"
#include "tools/reference.h"

namespace {

using purlin::tools::Fault;
std::atomic<Fault> fault{Fault::kNone};
std::atomic<int> calls{0};
std::atomic<int> registrations{0}, most_registrations{0}, blocks{0};
std::atomic<bool> broken{false};
std::mutex mutex;
thread_local std::string last_error;

struct Posted {
  purlin_call call{};
  const unsigned char* send = nullptr;
  std::vector<uint64_t> displs;
};

struct Board {
  explicit Board(int n) : nranks(n), barrier(n), posted(static_cast<size_t>(n)) {}
  int nranks;
  std::barrier<> barrier;
  std::vector<Posted> posted;
};

purlin_status fail(const char* text) {
  last_error = text;
  return PURLIN_INTERNAL;
}

}  // namespace

struct purlin_comm {
  std::shared_ptr<Board> board;
  int rank = 0;
  int run_count = 0;
  // A group of sends and receives, as the counts of an exchange.
  std::vector<std::pair<int, std::pair<void*, uint64_t>>> sends, receives;
};

namespace {

std::map<int, std::shared_ptr<Board>> boards;
int next_id = 1;
thread_local purlin_comm* grouped = nullptr;

size_t at(int rank) { return static_cast<size_t>(rank); }

void reduce_from(Board& board, const purlin_call& call, int rank, uint64_t first, uint64_t count,
                 unsigned char* out) {
  const uint64_t bytes = purlin::tools::dtype_bytes(call.dtype);
  std::vector<const void*> sources, scalars;
  for (int p = 0; p < board.nranks; ++p) {
    sources.push_back(board.posted[at(p)].send + first * bytes);
    scalars.push_back(board.posted[at(p)].call.scalar);
  }
  if (fault == Fault::kReverse && rank == 1) std::reverse(sources.begin(), sources.end());
  purlin::tools::reference_reduce(call.dtype, call.op, sources.data(), board.nranks, scalars.data(),
                                  count, out);
}

// The result as (offset in recv, bytes) pieces, worked out before anybody writes.
struct Result {
  uint64_t offset;
  std::vector<unsigned char> bytes;
};

std::vector<Result> work_out(Board& board, const purlin_call& call, int rank) {
  const uint64_t bytes = purlin::tools::dtype_bytes(call.dtype);
  std::vector<Result> results;
  const auto copy = [&](uint64_t to, int peer, uint64_t from, uint64_t count) {
    const unsigned char* begin = board.posted[at(peer)].send + from * bytes;
    results.push_back({to * bytes, {begin, begin + count * bytes}});
  };
  const auto reduce = [&](uint64_t first, uint64_t count) {
    results.push_back({0, std::vector<unsigned char>(count * bytes)});
    reduce_from(board, call, rank, first, count, results.back().bytes.data());
  };
  const uint64_t count = call.count, own = static_cast<uint64_t>(rank) * count;
  for (int p = 0; p < board.nranks; ++p) {
    const uint64_t region = static_cast<uint64_t>(p) * count;
    switch (call.collective) {
      case PURLIN_ALL_GATHER:
        copy(region, p, 0, count);
        break;
      case PURLIN_ALL_TO_ALL:
        copy(region, p, own, count);
        break;
      case PURLIN_GATHER:
        if (rank == call.root) copy(region, p, 0, count);
        break;
      case PURLIN_ALL_GATHER_V:
        copy(call.recv_displs[p], p, 0, call.recv_counts[p]);
        break;
      case PURLIN_ALL_TO_ALL_V:
        copy(call.recv_displs[p], p, board.posted[at(p)].displs[at(rank)], call.recv_counts[p]);
        break;
      default:
        break;
    }
  }
  if (call.collective == PURLIN_ALL_REDUCE ||
      (call.collective == PURLIN_REDUCE && rank == call.root))
    reduce(0, count);
  if (call.collective == PURLIN_REDUCE_SCATTER) reduce(own, count);
  if (call.collective == PURLIN_REDUCE_SCATTER_V)
    reduce(call.send_displs[rank], call.send_counts[rank]);
  if (call.collective == PURLIN_BROADCAST) copy(0, call.root, 0, count);
  if (call.collective == PURLIN_SCATTER) copy(0, call.root, own, count);
  return results;
}

void go_wrong(const purlin_call& call, std::vector<Result>& results, unsigned char* recv) {
  if (results.empty()) return;
  Result& last = results.back();
  if (last.bytes.empty()) return;
  if (fault == Fault::kFlipBit) last.bytes.back() ^= 1;
  if (fault == Fault::kSkipLast) last.bytes.pop_back();
  if (fault == Fault::kTouchSend)
    const_cast<unsigned char*>(static_cast<const unsigned char*>(call.send))[0] ^= 1;
  if (fault == Fault::kBeyond) recv[last.offset + last.bytes.size()] ^= 1;
  if (fault == Fault::kBefore) recv[-1] ^= 1;
  if (fault == Fault::kFillGaps) recv[results[0].offset + results[0].bytes.size()] ^= 1;
}

}  // namespace

namespace purlin::tools {

void set_fault(Fault next) {
  fault = next;
  calls = most_registrations = 0;
  broken = false;
}
int calls_made() { return calls; }
Registered registered() { return {registrations, blocks, most_registrations}; }

}  // namespace purlin::tools

extern "C" {

const char* purlin_version(void) { return "stand-in"; }
const char* purlin_last_error(void) { return last_error.c_str(); }

purlin_status purlin_get_unique_id(purlin_unique_id* out) {
  const std::lock_guard lock(mutex);
  std::memcpy(out->bytes, &next_id, sizeof next_id);
  ++next_id;
  return PURLIN_OK;
}

purlin_status purlin_comm_create(purlin_comm_t* out, const purlin_comm_options* options) {
  if (fault == Fault::kFailCreate && options->nranks > 0)
    return fail(options->rank == 1 ? "rank 1 cannot join" : "rank 1 did not join");
  auto comm = std::make_unique<purlin_comm>();
  if (options->nranks == 0) {
    comm->board = std::make_shared<Board>(1);
  } else {
    int id = 0;
    std::memcpy(&id, options->unique_id->bytes, sizeof id);
    const std::lock_guard lock(mutex);
    auto& board = boards[id];
    if (!board) board = std::make_shared<Board>(options->nranks);
    comm->board = board;
    comm->rank = options->rank;
  }
  *out = comm.release();
  return PURLIN_OK;
}
purlin_status purlin_comm_destroy(purlin_comm_t comm) {
  delete comm;
  return PURLIN_OK;
}
purlin_status purlin_comm_async_error(purlin_comm_t) { return PURLIN_OK; }
const char* purlin_comm_last_error(purlin_comm_t) { return ""; }

purlin_status purlin_mem_alloc(void** out, uint64_t bytes) {
  *out = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  ++blocks;
  return PURLIN_OK;
}
purlin_status purlin_mem_free(void* memory) {
  std::free(memory);
  --blocks;
  return PURLIN_OK;
}
purlin_status purlin_comm_register(purlin_comm_t comm, void* buffer, uint64_t,
                                   purlin_registration_t* out) {
  if (fault == Fault::kFailRegister && comm->rank == 1) return fail("rank 1 cannot register");
  *out = reinterpret_cast<purlin_registration_t>(buffer);
  ++registrations;
  ++most_registrations;
  return PURLIN_OK;
}
purlin_status purlin_comm_deregister(purlin_comm_t, purlin_registration_t) {
  --registrations;
  return PURLIN_OK;
}
// Only so that the library's own are not needed.
purlin_status purlin_prepare(purlin_comm_t, const purlin_call*, int) { return PURLIN_OK; }

purlin_status purlin_run(const purlin_call* call, purlin_comm_t comm, purlin_stream_t) {
  ++calls;
  Board& board = *comm->board;
  if (++comm->run_count == 5 && fault == Fault::kFailRun && comm->rank == 1) broken = true;
  Posted& mine = board.posted[at(comm->rank)];
  mine.call = *call;
  mine.send = static_cast<const unsigned char*>(call->send);
  if (call->send_displs) mine.displs.assign(call->send_displs, call->send_displs + board.nranks);
  board.barrier.arrive_and_wait();
  if (broken) return fail(comm->rank == 1 ? "rank 1 stumbled" : "rank 1 is lost");
  auto results = work_out(board, *call, comm->rank);
  board.barrier.arrive_and_wait();
  unsigned char* recv = static_cast<unsigned char*>(call->recv);
  if (comm->rank == 1) go_wrong(*call, results, recv);
  for (const Result& result : results)
    if (!result.bytes.empty())
      std::memcpy(recv + result.offset, result.bytes.data(), result.bytes.size());
  board.barrier.arrive_and_wait();
  return PURLIN_OK;
}

// Peers' sides are those of the calls given last.
purlin_status purlin_run_alone(const purlin_call* call, const purlin_call* everyone, purlin_comm_t comm,
                               purlin_stream_t) {
  ++calls;
  Board& board = *comm->board;
  for (int r = 0; everyone != nullptr && r < board.nranks; ++r) {
    Posted& posted = board.posted[at(r)];
    posted.call = everyone[r];
    posted.send = static_cast<const unsigned char*>(everyone[r].send);
    if (everyone[r].send_displs)
      posted.displs.assign(everyone[r].send_displs, everyone[r].send_displs + board.nranks);
  }
  auto results = work_out(board, *call, comm->rank);
  unsigned char* recv = static_cast<unsigned char*>(call->recv);
  if (comm->rank == 1) go_wrong(*call, results, recv);
  for (const Result& result : results)
    if (!result.bytes.empty())
      std::memcpy(recv + result.offset, result.bytes.data(), result.bytes.size());
  return PURLIN_OK;
}

purlin_status purlin_all_gather(const void* send, void* recv, uint64_t count, purlin_dtype dtype,
                                purlin_comm_t comm, purlin_stream_t stream) {
  purlin_call call{};
  call.collective = PURLIN_ALL_GATHER;
  call.dtype = dtype;
  call.send = send;
  call.recv = recv;
  call.count = count;
  const purlin_status status = purlin_run(&call, comm, stream);
  --calls;
  return status;
}

purlin_status purlin_group_start(void) {
  grouped = nullptr;
  return PURLIN_OK;
}
purlin_status purlin_send(const void* send, uint64_t count, purlin_dtype dtype, int peer,
                          purlin_comm_t comm, purlin_stream_t) {
  grouped = comm;
  comm->sends.push_back(
      {peer, {const_cast<void*>(send), count * purlin::tools::dtype_bytes(dtype)}});
  return PURLIN_OK;
}
purlin_status purlin_recv(void* recv, uint64_t count, purlin_dtype dtype, int peer,
                          purlin_comm_t comm, purlin_stream_t) {
  grouped = comm;
  comm->receives.push_back({peer, {recv, count * purlin::tools::dtype_bytes(dtype)}});
  return PURLIN_OK;
}
// Every rank takes part in every group of these tests.
purlin_status purlin_group_end(void) {
  if (!grouped) return PURLIN_OK;
  ++calls;
  purlin_comm* comm = grouped;
  grouped = nullptr;
  static std::map<std::pair<Board*, std::pair<int, int>>, std::pair<void*, uint64_t>> mailbox;
  Board* board = comm->board.get();
  for (const auto& [peer, memory] : comm->sends) {
    const std::lock_guard lock(mutex);
    mailbox[{board, {comm->rank, peer}}] = memory;
  }
  board->barrier.arrive_and_wait();
  for (const auto& [peer, memory] : comm->receives) {
    const std::lock_guard lock(mutex);
    const auto& sent = mailbox[{board, {peer, comm->rank}}];
    std::memcpy(memory.first, sent.first, std::min(sent.second, memory.second));
  }
  comm->sends.clear();
  comm->receives.clear();
  board->barrier.arrive_and_wait();
  return PURLIN_OK;
}

}  // extern "C"
