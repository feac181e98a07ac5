#include "communicator/fusion.h"

#include <algorithm>

#include "communicator/element.h"

namespace purlin {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 62;

bool is_like(const purlin_call& call, const purlin_call& first) {
  return call.collective == first.collective && call.dtype == first.dtype &&
         (call.collective != PURLIN_REDUCE || call.op == first.op) &&
         call.path == PURLIN_PATH_AUTO && call.reduction == PURLIN_REDUCTION_POLICY &&
         call.cta_budget == 0;
}

// One for each rank as root, indexed by root; empty if the calls are not that.
std::vector<const purlin_call*> by_root(std::span<const GroupCall> calls, int nranks) {
  const auto n = static_cast<size_t>(nranks);
  if (n < 2 || calls.size() < n) return {};
  const purlin_call& first = *calls[0].call;
  if (first.collective != PURLIN_BROADCAST && first.collective != PURLIN_REDUCE) return {};
  if (first.collective == PURLIN_REDUCE && first.op == PURLIN_PREMUL_SUM) return {};
  std::vector<const purlin_call*> found(n);
  uint64_t total = 0;
  for (size_t i = 0; i < n; ++i) {
    const purlin_call& call = *calls[i].call;
    const uint64_t bytes = call.count * element_bytes(call.dtype);
    if (!is_like(call, first) || found[static_cast<size_t>(call.root)] != nullptr ||
        total > kMostBytes - bytes)
      return {};
    total += bytes;
    found[static_cast<size_t>(call.root)] = &call;
  }
  return found;
}

// Lowest address of the parts that hold bytes, and where each lies from there.
uintptr_t place_from_lowest(const std::vector<uintptr_t>& addresses,
                            const std::vector<uint64_t>& bytes, std::vector<uint64_t>* places) {
  uintptr_t lowest = ~uintptr_t{0};
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != 0) lowest = std::min(lowest, addresses[i]);
  for (size_t i = 0; i < bytes.size(); ++i)
    places->push_back(bytes[i] != 0 ? addresses[i] - lowest : 0);
  return lowest == ~uintptr_t{0} ? 0 : lowest;
}

// By rank and peer: what the rank sends to (receives from) the peer; null where nothing.
using Grid = std::vector<std::vector<const Message*>>;

// False when a pair has two messages or dtypes differ.
bool lay_out(std::span<const std::span<const Message>> by_rank, bool sends, Grid* grid) {
  const size_t n = by_rank.size();
  grid->assign(n, std::vector<const Message*>(n));
  const int dtype = by_rank[0].empty() ? -1 : by_rank[0][0].dtype;
  for (size_t r = 0; r < n; ++r) {
    for (const Message& message : by_rank[r]) {
      if (message.dtype != dtype) return false;
      if (message.sends != sends) continue;
      const Message*& place = (*grid)[r][static_cast<size_t>(message.peer)];
      if (place != nullptr) return false;
      place = &message;
    }
  }
  return true;
}

// Both ends of every message are there and state the same, and most pairs of ranks have one.
bool is_exchange(const Grid& sent, const Grid& received) {
  size_t messages = 0;
  for (size_t from = 0; from < sent.size(); ++from)
    for (size_t to = 0; to < sent.size(); ++to) {
      const Message* there = sent[from][to];
      const Message* here = received[to][from];
      if ((there == nullptr) != (here == nullptr)) return false;
      if (there != nullptr && there->count != here->count) return false;
      messages += there != nullptr && from != to;
    }
  return 2 * messages > sent.size() * (sent.size() - 1);
}

uintptr_t lay_side(const std::vector<const Message*>& row, std::vector<uint64_t>* bytes,
                   std::vector<uint64_t>* places) {
  std::vector<uintptr_t> addresses;
  for (const Message* message : row) {
    bytes->push_back(message == nullptr ? 0 : message->count * element_bytes(message->dtype));
    addresses.push_back(message == nullptr ? 0 : reinterpret_cast<uintptr_t>(message->buffer));
  }
  return place_from_lowest(addresses, *bytes, places);
}

}  // namespace

CallFacts FusedCall::facts() const {
  CallFacts facts;
  facts.call = &call;
  facts.collective = static_cast<snac::Collective>(call.collective);
  facts.sizes = {
      1, 0, send_bytes.data(), send_places.data(), recv_bytes.data(), recv_places.data()};
  for (const uint64_t bytes : send_bytes) {
    facts.total_bytes += bytes;
    facts.largest_part = std::max(facts.largest_part, bytes);
  }
  facts.reduces = call.collective == PURLIN_REDUCE_SCATTER_V;
  return facts;
}

std::optional<FusedCall> fuse_rooted(std::span<const GroupCall> calls, int nranks, int rank) {
  const std::vector<const purlin_call*> roots = by_root(calls, nranks);
  if (roots.empty()) return {};
  const purlin_call& own = *roots[static_cast<size_t>(rank)];
  const bool gathers = own.collective == PURLIN_BROADCAST;
  FusedCall fused;
  fused.call = own;
  fused.call.collective = gathers ? PURLIN_ALL_GATHER_V : PURLIN_REDUCE_SCATTER_V;
  fused.call.root = 0;
  std::vector<uintptr_t> addresses;
  for (const purlin_call* call : roots) {
    fused.send_bytes.push_back(call->count * element_bytes(call->dtype));
    addresses.push_back(reinterpret_cast<uintptr_t>(gathers ? call->recv : call->send));
  }
  fused.recv_bytes = fused.send_bytes;
  std::vector<uint64_t> places;
  const uintptr_t lowest = place_from_lowest(addresses, fused.send_bytes, &places);
  if (gathers)
    fused.call.recv = reinterpret_cast<void*>(lowest);
  else
    fused.call.send = reinterpret_cast<const void*>(lowest);
  fused.send_places = fused.recv_places = std::move(places);
  return fused;
}

std::vector<FusedCall> fuse_exchange(std::span<const std::span<const Message>> by_rank) {
  Grid sent, received;
  if (by_rank.size() < 2 || !lay_out(by_rank, true, &sent) || !lay_out(by_rank, false, &received) ||
      !is_exchange(sent, received))
    return {};
  std::vector<FusedCall> calls(by_rank.size());
  for (size_t r = 0; r < by_rank.size(); ++r) {
    FusedCall& fused = calls[r];
    fused.call.struct_size = sizeof fused.call;
    fused.call.collective = PURLIN_ALL_TO_ALL_V;
    fused.call.dtype = by_rank[r][0].dtype;
    fused.call.send =
        reinterpret_cast<const void*>(lay_side(sent[r], &fused.send_bytes, &fused.send_places));
    fused.call.recv =
        reinterpret_cast<void*>(lay_side(received[r], &fused.recv_bytes, &fused.recv_places));
  }
  return calls;
}

}  // namespace purlin
