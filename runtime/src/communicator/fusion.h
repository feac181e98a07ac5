// Calls of one group that are carried out as one. Ranks must all decide alike, so a decision rests
// on nothing but what all ranks of a correct program state alike.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "communicator/call_facts.h"
#include "communicator/messages.h"

namespace purlin {

// A call of a group, checked. The call and what it points to outlive it.
struct GroupCall {
  const purlin_call* call = nullptr;
  purlin_stream_t stream = nullptr;
};

// A V form that stands for several calls. Sizes and places are in bytes, places from call.send and
// call.recv, which are the lowest addresses.
struct FusedCall {
  purlin_call call{};
  std::vector<uint64_t> send_bytes, send_places, recv_bytes, recv_places;

  // Valid while this object stays where it is.
  CallFacts facts() const;
};

// The first nranks of `calls` as one: broadcasts from every rank once become an all_gather_v,
// reduces to every rank once a reduce_scatter_v. They must agree in dtype (reduces in op, which is
// not premul_sum: each call has a scalar of its own, which other ranks do not know) and leave path,
// reduction and budget to the policy. Nothing when they do not.
std::optional<FusedCall> fuse_rooted(std::span<const GroupCall> calls, int nranks, int rank);

// The messages of all ranks, by rank, as one all_to_all_v, a call for each rank. For a thread that
// issues for all ranks alone: a rank by itself never knows that the others' messages complete an
// exchange. There must be at most one message from a rank to another or to itself, all of one dtype,
// both ends stating the same, and one for more than half of all ordered pairs of different ranks:
// fewer, such as a ring, run better by pairs. Every rank must have some. Empty when it is not so.
std::vector<FusedCall> fuse_exchange(std::span<const std::span<const Message>> by_rank);

}  // namespace purlin
