#include "tools/nccl_peer.h"

#include <algorithm>

#include "tools/names.h"

namespace purlin::tools {
namespace {

constexpr int kSymmetricWindow = 1;

int nccl_op(int op) {
  switch (op) {
    case PURLIN_PROD:
      return 1;
    case PURLIN_MAX:
      return 2;
    case PURLIN_MIN:
      return 3;
    case PURLIN_AVG:
      return 4;
    default:
      return 0;
  }
}

size_t at_rank(int rank) { return static_cast<size_t>(rank); }

}  // namespace

class NcclPeer::Windows {
 public:
  Windows(const NcclLibrary& library, NcclComm comm) : library_(library), comm_(comm) {}
  ~Windows() {
    for (NcclWindow window : windows_) library_.window_deregister(comm_, window);
    for (void* block : blocks_) library_.mem_free(block);
  }
  Windows(const Windows&) = delete;
  Windows& operator=(const Windows&) = delete;

  Done make(const RankShape& shape, uint64_t element_bytes) {
    for (const Arena& arena : shape.arenas) {
      const size_t bytes = std::max<size_t>(arena.count * element_bytes, 1);
      void* block = nullptr;
      if (Done made = library_.check("ncclMemAlloc", library_.mem_alloc(&block, bytes)); !made)
        return made;
      blocks_.push_back(block);
      NcclWindow window = nullptr;
      if (Done made = library_.check(
              "ncclCommWindowRegister",
              library_.window_register(comm_, block, bytes, &window, kSymmetricWindow));
          !made)
        return made;
      windows_.push_back(window);
    }
    return done();
  }

  unsigned char* address(const Place& place, uint64_t element_bytes) const {
    return static_cast<unsigned char*>(blocks_[static_cast<size_t>(place.arena)]) +
           place.offset * element_bytes;
  }

 private:
  const NcclLibrary& library_;
  NcclComm comm_;
  std::vector<void*> blocks_;
  std::vector<NcclWindow> windows_;
};

Outcome<std::unique_ptr<NcclPeer>> NcclPeer::join(const NcclLibrary& library, RankLink& link,
                                                  bool symmetric) {
  NcclUniqueId id{};
  Done step = done();
  if (symmetric && !(library.mem_alloc && library.mem_free && library.window_register &&
                     library.window_deregister))
    step = Error{"this NCCL has no symmetric windows; leave -sym out or name another with --nccl"};
  if (step && link.rank() == 0) step = library.check("ncclGetUniqueId", library.get_unique_id(&id));
  if (Done all = link.agree(step); !all) return Error{all.error()};
  const auto ids = link.gather_all(id);
  if (!ids) return Error{ids.error()};
  std::unique_ptr<NcclPeer> peer(new NcclPeer(library, link.rank(), symmetric));
  const Done joined =
      library.check("ncclCommInitRank",
                    library.comm_init_rank(&peer->comm_, link.size(), ids->front(), link.rank()));
  if (Done all = link.agree(joined); !all) return Error{all.error()};
  return peer;
}

NcclPeer::~NcclPeer() {
  if (comm_) library_.comm_destroy(comm_);
}

bool NcclPeer::knows(const Case& test) {
  return test.collective != PURLIN_BARRIER &&
         !(reduces(test.collective) && test.op == PURLIN_PREMUL_SUM);
}

Outcome<Samples> NcclPeer::time(const Case& test, const RankShape& shape, RankMemory& memory,
                                RankDevice& device, const Plan& plan, purlin_comm_t comm,
                                const std::function<Done()>& everyone_ready) {
  const uint64_t bytes = dtype_bytes(test.dtype);
  Windows windows(library_, comm_);
  Buffers at{memory.address(shape.send), memory.address(shape.recv)};
  if (symmetric_) {
    if (Done made = windows.make(shape, bytes); !made) return Error{made.error()};
    at = {windows.address(shape.send, bytes), windows.address(shape.recv, bytes)};
  }
  const auto one = [&] { return call(test, shape, at, device.stream()); };
  // Connections are made by the first call, which must not be part of a graph.
  if (Done first = one(); !first) return Error{first.error()};
  if (Done finished = device.finish(comm); !finished) return Error{finished.error()};
  return device.time(one, plan, comm, everyone_ready);
}

Done NcclPeer::call(const Case& test, const RankShape& shape, const Buffers& at,
                    purlin_stream_t stream) const {
  const int op = nccl_op(test.op);
  switch (test.collective) {
    case PURLIN_ALL_REDUCE:
      return library_.check("ncclAllReduce", library_.all_reduce(at.send, at.recv, shape.count,
                                                                 test.dtype, op, comm_, stream));
    case PURLIN_REDUCE:
      return library_.check("ncclReduce", library_.reduce(at.send, at.recv, shape.count, test.dtype,
                                                          op, test.root, comm_, stream));
    case PURLIN_REDUCE_SCATTER:
      return library_.check(
          "ncclReduceScatter",
          library_.reduce_scatter(at.send, at.recv, shape.count, test.dtype, op, comm_, stream));
    case PURLIN_ALL_GATHER:
      return library_.check("ncclAllGather", library_.all_gather(at.send, at.recv, shape.count,
                                                                 test.dtype, comm_, stream));
    case PURLIN_BROADCAST:
      return library_.check(
          "ncclBroadcast",
          library_.broadcast(at.send, at.recv, shape.count, test.dtype, test.root, comm_, stream));
    case PURLIN_ALL_TO_ALL:
      if (library_.all_to_all)
        return library_.check("ncclAlltoAll", library_.all_to_all(at.send, at.recv, shape.count,
                                                                  test.dtype, comm_, stream));
      return grouped(test, shape, at, stream);
    default:
      return grouped(test, shape, at, stream);
  }
}

Done NcclPeer::grouped(const Case& test, const RankShape& shape, const Buffers& at,
                       purlin_stream_t stream) const {
  if (Done began = library_.check("ncclGroupStart", library_.group_start()); !began) return began;
  const Done made = each_part(test, shape, at, stream);
  const Done ended = library_.check("ncclGroupEnd", library_.group_end());
  return made ? ended : made;
}

Done NcclPeer::each_part(const Case& test, const RankShape& shape, const Buffers& at,
                         purlin_stream_t stream) const {
  const uint64_t bytes = dtype_bytes(test.dtype);
  const auto part = [&](unsigned char* base, const std::vector<uint64_t>& displs, int p) {
    const uint64_t place =
        displs.empty() ? static_cast<uint64_t>(p) * shape.count : displs[at_rank(p)];
    return base + place * bytes;
  };
  const auto count = [&](const std::vector<uint64_t>& counts, int p) {
    return counts.empty() ? shape.count : counts[at_rank(p)];
  };
  const bool is_root = rank_ == test.root;
  for (int p = 0; p < test.nranks; ++p) {
    Done step = done();
    const auto send_to = [&](unsigned char* from, uint64_t elements) {
      if (step)
        step =
            library_.check("ncclSend", library_.send(from, elements, test.dtype, p, comm_, stream));
    };
    const auto receive_from = [&](unsigned char* to, uint64_t elements) {
      if (step)
        step =
            library_.check("ncclRecv", library_.recv(to, elements, test.dtype, p, comm_, stream));
    };
    switch (test.collective) {
      case PURLIN_ALL_GATHER_V:
        step = library_.check(
            "ncclBroadcast",
            library_.broadcast(at.send, part(at.recv, shape.recv_displs, p),
                               count(shape.recv_counts, p), test.dtype, p, comm_, stream));
        break;
      case PURLIN_REDUCE_SCATTER_V:
        step = library_.check(
            "ncclReduce", library_.reduce(part(at.send, shape.send_displs, p), at.recv,
                                          count(shape.send_counts, p), test.dtype, nccl_op(test.op),
                                          p, comm_, stream));
        break;
      case PURLIN_SCATTER:
        if (is_root) send_to(part(at.send, {}, p), shape.count);
        if (p == test.root) receive_from(at.recv, shape.count);
        break;
      case PURLIN_GATHER:
        if (is_root) receive_from(part(at.recv, {}, p), shape.count);
        if (p == test.root) send_to(at.send, shape.count);
        break;
      default: {
        const uint64_t sent = count(shape.send_counts, p), received = count(shape.recv_counts, p);
        if (sent > 0) send_to(part(at.send, shape.send_displs, p), sent);
        if (received > 0) receive_from(part(at.recv, shape.recv_displs, p), received);
      }
    }
    if (!step) return step;
  }
  return done();
}

}  // namespace purlin::tools
