// purlin/purlin.hpp: the C++20 face of purlin/purlin.h. Header-only; nothing here but lifetimes,
// types and errors, so a program built with it links libpurlin's C symbols alone.
//
// Errors. Creation and every call come twice: `name(…)` throws purlin::Error, `try_name(…)` returns
// an Outcome and throws nothing (short of std::bad_alloc). Both carry the status and the text of
// purlin_last_error(). What has no try_ form throws.
//
// Buffers are contiguous ranges (std::vector, std::array, std::span) of elements that DtypeOf
// knows; only their address and size are used, so a span over GPU memory serves. Sizes are checked
// against the collective before the call. Ownership stays with the caller. Host calls return when
// the operation is complete; GPU calls once it is enqueued, and the buffers must outlive it.
//
// Thread safety, order and in-place forms are those of purlin.h.
#ifndef PURLIN_PURLIN_HPP
#define PURLIN_PURLIN_HPP

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "purlin/buffer.hpp"
#include "purlin/error.hpp"
#include "purlin/purlin.h"

namespace purlin {

// ---- Communicators -----------------------------------------------------------------------------

// Options as purlin_comm_create takes them when nothing is said: rank and size from the launcher's
// environment (purlin run, mpirun, srun, torchrun), the current CUDA device or else the host.
inline purlin_comm_options default_options() {
  return purlin_comm_options PURLIN_COMM_OPTIONS_INIT;
}

// Made by one rank and handed to the others by the caller's own means.
inline purlin_unique_id unique_id() {
  purlin_unique_id id;
  Outcome::of(purlin_get_unique_id(&id)).or_throw();
  return id;
}

// One rank's membership of a communicator. Move-only; the destructor waits for own work and frees.
// An empty one (default constructed, moved from, or split off with a negative color) may only be
// asked whether it is, assigned to and destroyed.
class Communicator {
 public:
  Communicator() = default;

  // Collective over the ranks; blocks until all have joined, bounded by the timeout. With
  // options.nonblocking, poll async_error() until it is no longer PURLIN_IN_PROGRESS.
  static Communicator create(const purlin_comm_options& options = default_options()) {
    Communicator comm;
    try_create(options, comm).or_throw();
    return comm;
  }
  static Outcome try_create(const purlin_comm_options& options, Communicator& out) {
    purlin_comm_t handle = nullptr;
    const purlin_status status = purlin_comm_create(&handle, &options);
    out.handle_.reset(handle);
    return status == PURLIN_IN_PROGRESS ? Outcome() : Outcome::of(status);
  }
  // All ranks of this process at once; element r is rank r, each to be used by a thread of its own.
  // `devices`: CUDA ordinals, one a rank, or empty for `nranks` host ranks.
  static std::vector<Communicator> create_all(
      int nranks, std::span<const int> devices = {},
      const purlin_comm_options& options = default_options()) {
    if (!devices.empty() && std::ssize(devices) != nranks) {
      throw Error(PURLIN_INVALID_ARGUMENT, "create_all: " + std::to_string(nranks) +
                                               " ranks, but " + std::to_string(devices.size()) +
                                               " devices; give one for each rank, or none");
    }
    std::vector<purlin_comm_t> handles(static_cast<size_t>(nranks < 0 ? 0 : nranks));
    const int* ordinals = devices.empty() ? nullptr : devices.data();
    Outcome::of(purlin_comm_create_all(handles.data(), nranks, ordinals, &options)).or_throw();
    std::vector<Communicator> comms(handles.size());
    for (size_t r = 0; r < handles.size(); ++r) comms[r].handle_.reset(handles[r]);
    return comms;
  }
  // Collective: ranks of equal color >= 0 form a new one, ordered by key, then rank.
  Communicator split(int color, int key = 0) const {
    purlin_comm_t handle = nullptr;
    Outcome::of(purlin_comm_split(get(), color, key, &handle)).or_throw();
    Communicator comm;
    comm.handle_.reset(handle);
    return comm;
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  purlin_comm_t get() const noexcept { return handle_.get(); }
  int rank() const { return place().rank; }
  int size() const { return place().size; }
  // Ends every running and later call of all ranks with PURLIN_ABORTED. Never blocks.
  void abort() { Outcome::of(purlin_comm_abort(get())).or_throw(); }
  // PURLIN_OK, PURLIN_IN_PROGRESS, or the error that broke the communicator. Never blocks.
  Outcome async_error() const {
    const purlin_status status = purlin_comm_async_error(get());
    return status == PURLIN_OK ? Outcome() : Outcome(status, purlin_comm_last_error(get()));
  }
  // What the destructor does, with its verdict.
  void destroy() { Outcome::of(purlin_comm_destroy(handle_.release())).or_throw(); }

  // ---- Calls. n is size(), count the elements of one region. What a buffer must hold is checked.

  // Any call, complete; per-call options (path, reduction, CTA budget) are members of `call`.
  Outcome try_run(const purlin_call& call, purlin_stream_t stream = nullptr) const {
    return Outcome::of(purlin_run(&call, get(), stream));
  }
  // recv (n * count) holds every rank's send (count), in rank order.
  template <Buffer In, OutputFor<In> Out>
  Outcome try_all_gather(const In& send, Out&& recv, purlin_stream_t stream = nullptr) const {
    return start({PURLIN_ALL_GATHER, Holds::kOne, Holds::kAll}, send, recv, stream);
  }
  // recv (count) is share `rank()` of the reduction of every rank's send (n * count).
  template <Buffer In, OutputFor<In> Out>
  Outcome try_reduce_scatter(const In& send, Out&& recv, purlin_op op = PURLIN_SUM,
                             purlin_stream_t stream = nullptr) const {
    return start({PURLIN_REDUCE_SCATTER, Holds::kAll, Holds::kOne, op}, send, recv, stream);
  }
  // recv (count) is the reduction of every rank's send (count), the same bits on every rank.
  template <Buffer In, OutputFor<In> Out>
  Outcome try_all_reduce(const In& send, Out&& recv, purlin_op op = PURLIN_SUM,
                         purlin_stream_t stream = nullptr) const {
    return start({PURLIN_ALL_REDUCE, Holds::kOne, Holds::kOne, op}, send, recv, stream);
  }
  // Region p of send goes to rank p, region p of recv came from rank p; both hold n * count.
  template <Buffer In, OutputFor<In> Out>
  Outcome try_all_to_all(const In& send, Out&& recv, purlin_stream_t stream = nullptr) const {
    return start({PURLIN_ALL_TO_ALL, Holds::kAll, Holds::kAll}, send, recv, stream);
  }
  // recv (count) is the root's send (count); send is not read on other ranks and may be empty.
  template <Buffer In, OutputFor<In> Out>
  Outcome try_broadcast(const In& send, Out&& recv, int root,
                        purlin_stream_t stream = nullptr) const {
    return start({PURLIN_BROADCAST, Holds::kOneAtRoot, Holds::kOne, PURLIN_SUM, root}, send, recv,
                 stream);
  }
  // The root's recv (count) is the reduction of every rank's send (count); recv is not written on
  // other ranks and may be empty.
  template <Buffer In, OutputFor<In> Out>
  Outcome try_reduce(const In& send, Out&& recv, int root, purlin_op op = PURLIN_SUM,
                     purlin_stream_t stream = nullptr) const {
    return start({PURLIN_REDUCE, Holds::kOne, Holds::kOneAtRoot, op, root}, send, recv, stream);
  }
  // recv (count) is region `rank()` of the root's send (n * count).
  template <Buffer In, OutputFor<In> Out>
  Outcome try_scatter(const In& send, Out&& recv, int root,
                      purlin_stream_t stream = nullptr) const {
    return start({PURLIN_SCATTER, Holds::kAllAtRoot, Holds::kOne, PURLIN_SUM, root}, send, recv,
                 stream);
  }
  // The root's recv (n * count) holds every rank's send (count), in rank order.
  template <Buffer In, OutputFor<In> Out>
  Outcome try_gather(const In& send, Out&& recv, int root, purlin_stream_t stream = nullptr) const {
    return start({PURLIN_GATHER, Holds::kOne, Holds::kAllAtRoot, PURLIN_SUM, root}, send, recv,
                 stream);
  }

  // V forms: counts and displacements in elements, n entries each, read before the call returns.
  // Without displacements parts follow one another. Elements between parts are never touched.

  // Part p of recv, recv_counts[p] elements, is rank p's send.
  template <Buffer In, OutputFor<In> Out>
  Outcome try_all_gather_v(const In& send, Out&& recv, Counts recv_counts, Counts recv_displs = {},
                           purlin_stream_t stream = nullptr) const {
    if (Outcome o = check_counts({recv_counts}, {recv_displs}); !o) return o;
    return Outcome::of(purlin_all_gather_v(std::data(send), std::size(send), std::data(recv),
                                           recv_counts.data(), recv_displs.data(), dtype_of<In>,
                                           get(), stream));
  }
  // recv is share `rank()` of the reduction; share p has send_counts[p] elements.
  template <Buffer In, OutputFor<In> Out>
  Outcome try_reduce_scatter_v(const In& send, Counts send_counts, Out&& recv,
                               purlin_op op = PURLIN_SUM, Counts send_displs = {},
                               purlin_stream_t stream = nullptr) const {
    if (Outcome o = check_counts({send_counts}, {send_displs}); !o) return o;
    return Outcome::of(purlin_reduce_scatter_v(std::data(send), send_counts.data(),
                                               send_displs.data(), std::data(recv), dtype_of<In>,
                                               op, get(), stream));
  }
  // send_counts[p] elements go to rank p, recv_counts[p] come from it.
  template <Buffer In, OutputFor<In> Out>
  Outcome try_all_to_all_v(const In& send, Counts send_counts, Out&& recv, Counts recv_counts,
                           Counts send_displs = {}, Counts recv_displs = {},
                           purlin_stream_t stream = nullptr) const {
    if (Outcome o = check_counts({send_counts, recv_counts}, {send_displs, recv_displs}); !o) {
      return o;
    }
    return Outcome::of(purlin_all_to_all_v(std::data(send), send_counts.data(), send_displs.data(),
                                           std::data(recv), recv_counts.data(), recv_displs.data(),
                                           dtype_of<In>, get(), stream));
  }

  // Point to point: a pair's sends and receives match in order. Two ranks that send to each other
  // do so inside group().
  template <Buffer In>
  Outcome try_send(const In& send, int peer, purlin_stream_t stream = nullptr) const {
    return Outcome::of(
        purlin_send(std::data(send), std::size(send), dtype_of<In>, peer, get(), stream));
  }
  template <class Out>
  requires OutputFor<Out, Out> Outcome try_recv(Out&& recv, int peer,
                                                purlin_stream_t stream = nullptr)
  const {
    return Outcome::of(
        purlin_recv(std::data(recv), std::size(recv), dtype_of<Out>, peer, get(), stream));
  }
  Outcome try_barrier(purlin_stream_t stream = nullptr) const {
    return Outcome::of(purlin_barrier(get(), stream));
  }
  // Makes the programs that `calls` need, so that no later call has to.
  Outcome try_prepare(std::span<const purlin_call> calls) const {
    return Outcome::of(purlin_prepare(get(), calls.data(), static_cast<int>(calls.size())));
  }

  // Each takes what its try_ form takes, and throws Error where that returns a failed Outcome.
  template <class... A>
  void run(A&&... a) const {
    try_run(std::forward<A>(a)...).or_throw();
  }
  template <class... A>
  void all_gather(A&&... a) const {
    try_all_gather(std::forward<A>(a)...).or_throw();
  }
  template <class... A>
  void reduce_scatter(A&&... a) const {
    try_reduce_scatter(std::forward<A>(a)...).or_throw();
  }
  template <class... A>
  void all_reduce(A&&... a) const {
    try_all_reduce(std::forward<A>(a)...).or_throw();
  }
  template <class... A>
  void all_to_all(A&&... a) const {
    try_all_to_all(std::forward<A>(a)...).or_throw();
  }
  template <class... A>
  void broadcast(A&&... a) const {
    try_broadcast(std::forward<A>(a)...).or_throw();
  }
  template <class... A>
  void reduce(A&&... a) const {
    try_reduce(std::forward<A>(a)...).or_throw();
  }
  template <class... A>
  void scatter(A&&... a) const {
    try_scatter(std::forward<A>(a)...).or_throw();
  }
  template <class... A>
  void gather(A&&... a) const {
    try_gather(std::forward<A>(a)...).or_throw();
  }
  template <class... A>
  void all_gather_v(A&&... a) const {
    try_all_gather_v(std::forward<A>(a)...).or_throw();
  }
  template <class... A>
  void reduce_scatter_v(A&&... a) const {
    try_reduce_scatter_v(std::forward<A>(a)...).or_throw();
  }
  template <class... A>
  void all_to_all_v(A&&... a) const {
    try_all_to_all_v(std::forward<A>(a)...).or_throw();
  }
  template <class... A>
  void send(A&&... a) const {
    try_send(std::forward<A>(a)...).or_throw();
  }
  template <class... A>
  void recv(A&&... a) const {
    try_recv(std::forward<A>(a)...).or_throw();
  }
  template <class... A>
  void barrier(A&&... a) const {
    try_barrier(std::forward<A>(a)...).or_throw();
  }
  template <class... A>
  void prepare(A&&... a) const {
    try_prepare(std::forward<A>(a)...).or_throw();
  }

 private:
  // The handle is destroyed with its owner; a failure then has nobody to go to (see destroy()).
  struct Destroy {
    void operator()(purlin_comm* handle) const noexcept { (void)purlin_comm_destroy(handle); }
  };
  // Regions of `count` elements that a buffer holds.
  enum class Holds { kOne, kAll, kOneAtRoot, kAllAtRoot };
  struct Shape {
    purlin_collective collective;
    Holds send, recv;
    purlin_op op = PURLIN_SUM;
    int root = 0;
  };
  struct Place {
    int rank = 0, size = 1;
  };

  Outcome try_place(Place& out) const {
    if (Outcome o = Outcome::of(purlin_comm_rank(get(), &out.rank)); !o) return o;
    return Outcome::of(purlin_comm_size(get(), &out.size));
  }
  Place place() const {
    Place place;
    try_place(place).or_throw();
    return place;
  }

  template <class In, class Out>
  Outcome start(const Shape& shape, const In& send, Out& recv, purlin_stream_t stream) const {
    Place place;
    if (Outcome o = try_place(place); !o) return o;
    const uint64_t n = static_cast<uint64_t>(place.size);
    purlin_call call{};
    call.struct_size = sizeof call;
    call.collective = shape.collective;
    call.dtype = dtype_of<In>;
    call.op = shape.op;
    call.root = shape.root;
    call.send = std::data(send);
    call.recv = std::data(recv);
    call.count = shape.send == Holds::kOne   ? std::size(send)
                 : shape.recv == Holds::kOne ? std::size(recv)
                                             : std::size(send) / n;
    const auto check = [&](const char* side, Holds holds, uint64_t found) -> Outcome {
      const bool at_root = holds == Holds::kOneAtRoot || holds == Holds::kAllAtRoot;
      if (at_root && place.rank != shape.root) return {};
      const bool all = holds == Holds::kAll || holds == Holds::kAllAtRoot;
      const uint64_t wanted = call.count * (all ? n : 1);
      if (found == wanted) return {};
      return {PURLIN_INVALID_ARGUMENT,
              std::string(side) + " of rank " + std::to_string(place.rank) + " has " +
                  std::to_string(found) + " elements, but must have " + std::to_string(wanted) +
                  " (" + std::to_string(n) + " ranks, regions of " + std::to_string(call.count) +
                  "); nothing was sent"};
    };
    if (Outcome o = check("send", shape.send, std::size(send)); !o) return o;
    if (Outcome o = check("recv", shape.recv, std::size(recv)); !o) return o;
    return try_run(call, stream);
  }

  Outcome check_counts(std::initializer_list<Counts> counts,
                       std::initializer_list<Counts> displacements) const {
    Place place;
    if (Outcome o = try_place(place); !o) return o;
    const auto wrong = [&](Counts array) { return std::ssize(array) != place.size; };
    const auto refuse = [&](const char* what, Counts array) -> Outcome {
      return {PURLIN_INVALID_ARGUMENT, std::string("an array of ") + what + " has " +
                                           std::to_string(array.size()) +
                                           " entries, but there are " + std::to_string(place.size) +
                                           " ranks; give one for each"};
    };
    for (Counts array : counts) {
      if (wrong(array)) return refuse("counts", array);
    }
    for (Counts array : displacements) {
      if (!array.empty() && wrong(array)) return refuse("displacements", array);
    }
    return {};
  }

  std::unique_ptr<purlin_comm, Destroy> handle_;
};

// Everything that `calls` issues, on any communicators of this thread, is launched together when it
// returns. Nestable. If `calls` throws, the group is closed and the exception goes on.
template <class F>
Outcome try_group(F&& calls) {
  if (Outcome o = Outcome::of(purlin_group_start()); !o) return o;
  try {
    std::forward<F>(calls)();
  } catch (...) {
    (void)purlin_group_end();  // what made `calls` throw says more
    throw;
  }
  return Outcome::of(purlin_group_end());
}
template <class F>
void group(F&& calls) {
  try_group(std::forward<F>(calls)).or_throw();
}

}  // namespace purlin
#endif  // PURLIN_PURLIN_HPP
