#include "communicator/buffers.h"

#include <fmt/format.h>

#include "snac/flow.h"

namespace purlin {
namespace {

// What of a buffer this rank touches: bytes from the buffer's first address, 0 if none.
struct Use {
  uint64_t send = 0;
  uint64_t recv = 0;
  uint64_t in_place_send = 0;  // in place: send + this == recv + that
  uint64_t in_place_recv = 0;
  bool in_place_exists = true;
  const char* form = "";
};

// Bytes up to the end of the last part.
Result<uint64_t> reach(const uint64_t* counts, const uint64_t* displs, int n, uint64_t es,
                       const char* name) {
  uint64_t end = 0;
  uint64_t next = 0;
  for (int i = 0; i < n; ++i) {
    const uint64_t at = displs != nullptr ? displs[i] : next;
    if (at > (uint64_t{1} << 62) / es || at * es + counts[i] * es > uint64_t{1} << 62)
      return Status(PURLIN_INVALID_ARGUMENT,
                    fmt::format("{}[{}] is {}: the part ends beyond 2^62 bytes", name, i, at));
    if (counts[i] != 0) end = std::max(end, (at + counts[i]) * es);
    next = at + counts[i];
  }
  return end;
}

uint64_t place(const uint64_t* counts, const uint64_t* displs, int rank, uint64_t es) {
  if (displs != nullptr) return displs[rank] * es;
  uint64_t at = 0;
  for (int i = 0; i < rank; ++i) at += counts[i] * es;
  return at;
}

Result<Use> use_of_v(const CallFacts& facts, int n, int rank) {
  const purlin_call& call = *facts.call;
  const uint64_t es = facts.sizes.element_bytes;
  Use use;
  if (call.collective == PURLIN_ALL_GATHER_V) {
    auto end = reach(call.recv_counts, call.recv_displs, n, es, "recv_displs");
    if (!end) return end.status();
    use.send = call.recv_counts[rank] * es;
    use.recv = *end;
    use.in_place_recv = place(call.recv_counts, call.recv_displs, rank, es);
    use.form = "send == recv + own displacement";
  } else if (call.collective == PURLIN_REDUCE_SCATTER_V) {
    auto end = reach(call.send_counts, call.send_displs, n, es, "send_displs");
    if (!end) return end.status();
    use.send = *end;
    use.recv = call.send_counts[rank] * es;
    use.in_place_send = place(call.send_counts, call.send_displs, rank, es);
    use.form = "recv == send + own displacement";
  } else {
    auto send = reach(call.send_counts, call.send_displs, n, es, "send_displs");
    if (!send) return send.status();
    auto recv = reach(call.recv_counts, call.recv_displs, n, es, "recv_displs");
    if (!recv) return recv.status();
    use = Use{*send, *recv, 0, 0, false, "none"};
  }
  return use;
}

Use use_of(const CallFacts& facts, int n, int rank) {
  const purlin_call& call = *facts.call;
  const uint64_t bytes = facts.sizes.count * facts.sizes.element_bytes;
  const uint64_t all = bytes * static_cast<uint64_t>(n);
  const uint64_t own = bytes * static_cast<uint64_t>(rank);
  const bool root = rank == call.root;
  switch (call.collective) {
    case PURLIN_ALL_GATHER:
      return {bytes, all, 0, own, true, "send == recv + rank * count"};
    case PURLIN_REDUCE_SCATTER:
      return {all, bytes, own, 0, true, "recv == send + rank * count"};
    case PURLIN_ALL_REDUCE:
      return {bytes, bytes, 0, 0, true, "send == recv"};
    case PURLIN_BROADCAST:
      return {root ? bytes : 0, bytes, 0, 0, true, "send == recv"};
    case PURLIN_REDUCE:
      return {bytes, root ? bytes : 0, 0, 0, true, "send == recv"};
    case PURLIN_ALL_TO_ALL:
      return {all, all, 0, 0, true, "send == recv"};
    case PURLIN_SCATTER:
      return {root ? all : 0, bytes, own, 0, true, "recv == send + root * count"};
    case PURLIN_GATHER:
      return {bytes, root ? all : 0, 0, own, true, "send == recv + root * count"};
    case PURLIN_BARRIER:
      return {0, 0, 0, 0, false, "none"};
    default:
      break;
  }
  const auto un = static_cast<snac::u32>(n);
  const auto ur = static_cast<snac::u32>(rank);
  const auto ux = static_cast<snac::u32>(call.root);
  const snac::Transformation& t = facts.custom;
  const snac::Step& last = t.steps[t.step_count - 1];
  Use use{0, 0, 0, 0, false, "none"};
  if (snac::contains(t.steps[0].stagers, ur, ux))
    use.send = snac::span_in_regions(t.steps[0].input, un) * bytes;
  if (snac::contains(last.consumers, ur, ux)) {
    const uint64_t part = t.step_count == 2 ? bytes / snac::region_count(last.input, un) : bytes;
    use.recv = snac::span_in_regions(last.output, un) * part;
  }
  return use;
}

}  // namespace

Status check_buffers(CallFacts* facts, int nranks, int rank) {
  const purlin_call& call = *facts->call;
  if (call.counts_on_device != 0) return {};  // the counts are not known here
  const bool v = call.collective == PURLIN_ALL_GATHER_V ||
                 call.collective == PURLIN_REDUCE_SCATTER_V || call.collective == PURLIN_ALL_TO_ALL_V;
  Result<Use> found = v ? use_of_v(*facts, nranks, rank) : Result<Use>(use_of(*facts, nranks, rank));
  if (!found) return found.status();
  const Use& use = *found;
  if (use.send != 0 && call.send == nullptr)
    return Status(PURLIN_INVALID_ARGUMENT,
                  fmt::format("send is null, and this rank sends {} bytes from it", use.send));
  if (use.recv != 0 && call.recv == nullptr)
    return Status(PURLIN_INVALID_ARGUMENT,
                  fmt::format("recv is null, and this rank receives {} bytes into it", use.recv));
  if (use.send == 0 || use.recv == 0) return {};
  const auto send = reinterpret_cast<uintptr_t>(call.send);
  const auto recv = reinterpret_cast<uintptr_t>(call.recv);
  facts->in_place = use.in_place_exists && send + use.in_place_send == recv + use.in_place_recv;
  const bool overlap = send < recv + use.recv && recv < send + use.send;
  if (overlap && !facts->in_place)
    return Status(PURLIN_INVALID_ARGUMENT,
                  fmt::format("send ({} bytes) and recv ({} bytes) overlap; the in-place form of {} "
                              "is: {}", use.send, use.recv, collective_text(call.collective), use.form));
  return {};
}

}  // namespace purlin
