// Which calls of a group become one, and what that one is.
#include "communicator/fusion.h"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

using namespace purlin;

namespace {

purlin_call rooted(int collective, int root, uint64_t count, void* send, void* recv) {
  purlin_call call{};
  call.struct_size = sizeof call;
  call.collective = collective;
  call.dtype = PURLIN_I32;
  call.op = PURLIN_SUM;
  call.root = root;
  call.count = count;
  call.send = send;
  call.recv = recv;
  return call;
}

std::vector<GroupCall> group_of(const std::vector<purlin_call>& calls) {
  std::vector<GroupCall> group;
  for (const purlin_call& call : calls) group.push_back({&call, nullptr});
  return group;
}

struct Buffers {
  int32_t send[64], recv[64];
};

// Three broadcasts of 5, 0 and 2 elements from ranks 2, 0 and 1, scattered over the buffer.
std::vector<purlin_call> broadcasts(Buffers& b) {
  return {rooted(PURLIN_BROADCAST, 2, 5, b.send, b.recv + 9),
          rooted(PURLIN_BROADCAST, 0, 0, b.send, b.recv + 1),
          rooted(PURLIN_BROADCAST, 1, 2, b.send + 7, b.recv + 30)};
}

Message message(bool sends, int peer, uint64_t count, void* buffer, int dtype = PURLIN_I32) {
  return {sends, buffer, count, dtype, peer, nullptr};
}

std::vector<FusedCall> exchange(const std::vector<std::vector<Message>>& ranks) {
  std::vector<std::span<const Message>> spans(ranks.begin(), ranks.end());
  return fuse_exchange(spans);
}

}  // namespace

TEST_CASE("broadcasts from every rank once are an all_gather_v of parts where they lie") {
  Buffers b{};
  const auto calls = broadcasts(b);
  const auto fused = fuse_rooted(group_of(calls), 3, 1);
  REQUIRE(fused);
  CHECK(fused->call.collective == PURLIN_ALL_GATHER_V);
  CHECK(fused->call.dtype == PURLIN_I32);
  CHECK(fused->call.send == b.send + 7);
  CHECK(fused->call.recv == b.recv + 9);  // an empty part does not count as the lowest
  CHECK(fused->recv_bytes == std::vector<uint64_t>{0, 8, 20});
  CHECK(fused->recv_places == std::vector<uint64_t>{0, 84, 0});
  const CallFacts facts = fused->facts();
  CHECK(facts.total_bytes == 28);
  CHECK(facts.largest_part == 20);
  CHECK(facts.sizes.element_bytes == 1);
  CHECK(!facts.reduces);
}

TEST_CASE("reduces to every rank once are a reduce_scatter_v") {
  Buffers b{};
  const std::vector<purlin_call> calls = {rooted(PURLIN_REDUCE, 1, 3, b.send + 8, b.recv + 8),
                                          rooted(PURLIN_REDUCE, 0, 4, b.send + 2, b.recv)};
  const auto fused = fuse_rooted(group_of(calls), 2, 1);
  REQUIRE(fused);
  CHECK(fused->call.collective == PURLIN_REDUCE_SCATTER_V);
  CHECK(fused->call.send == b.send + 2);
  CHECK(fused->call.recv == b.recv + 8);
  CHECK(fused->send_bytes == std::vector<uint64_t>{16, 12});
  CHECK(fused->send_places == std::vector<uint64_t>{0, 24});
  CHECK(fused->facts().reduces);
}

TEST_CASE("what the others could not know, or what is not one of each rank, stays apart") {
  Buffers b{};
  const auto refused = [&](const std::vector<purlin_call>& calls) {
    return !fuse_rooted(group_of(calls), 3, 0);
  };
  CHECK(!refused(broadcasts(b)));
  auto calls = broadcasts(b);
  calls.pop_back();
  CHECK(refused(calls));
  calls = broadcasts(b);
  calls[2].root = 0;
  CHECK(refused(calls));
  calls = broadcasts(b);
  calls[1].dtype = PURLIN_F32;
  CHECK(refused(calls));
  calls = broadcasts(b);
  calls[1].path = PURLIN_PATH_THROUGHPUT;
  CHECK(refused(calls));
  calls = broadcasts(b);
  calls[0].cta_budget = 4;
  CHECK(refused(calls));
  calls = broadcasts(b);
  calls[1].collective = PURLIN_REDUCE;
  CHECK(refused(calls));
  std::vector<purlin_call> reduces;
  for (int root : {0, 1, 2}) reduces.push_back(rooted(PURLIN_REDUCE, root, 1, b.send, b.recv));
  CHECK(!refused(reduces));
  reduces[2].op = PURLIN_MAX;
  CHECK(refused(reduces));
  for (purlin_call& call : reduces) call.op = PURLIN_PREMUL_SUM;
  CHECK(refused(reduces));
  // More calls may follow; the decision is about the first three.
  calls = broadcasts(b);
  calls.push_back(rooted(PURLIN_ALL_REDUCE, 0, 4, b.send, b.recv));
  CHECK(!refused(calls));
  CHECK(!fuse_rooted({}, 3, 0));
}

TEST_CASE("one message for every pair, seen from all ranks, is an all_to_all_v") {
  Buffers b[2]{};
  std::vector<std::vector<Message>> ranks = {
      {message(true, 1, 3, b[0].send + 4), message(false, 1, 2, b[0].recv),
       message(true, 0, 1, b[0].send), message(false, 0, 1, b[0].recv + 6)},
      {message(false, 0, 3, b[1].recv), message(true, 0, 2, b[1].send)}};
  const auto calls = exchange(ranks);
  REQUIRE(calls.size() == 2);
  CHECK(calls[0].call.collective == PURLIN_ALL_TO_ALL_V);
  CHECK(calls[0].call.send == b[0].send);
  CHECK(calls[0].send_bytes == std::vector<uint64_t>{4, 12});
  CHECK(calls[0].send_places == std::vector<uint64_t>{0, 16});
  CHECK(calls[0].recv_bytes == std::vector<uint64_t>{4, 8});
  CHECK(calls[0].recv_places == std::vector<uint64_t>{24, 0});
  CHECK(calls[1].send_bytes == std::vector<uint64_t>{8, 0});
  CHECK(calls[1].recv_bytes == std::vector<uint64_t>{12, 0});
  CHECK(calls[0].facts().total_bytes == 16);

  auto other = ranks;
  other[0][1].count = 1;  // ends disagree: by pairs, where they are told
  CHECK(exchange(other).empty());
  other = ranks;
  other[1].pop_back();  // a receive without its send
  CHECK(exchange(other).empty());
  other = ranks;
  other[0].push_back(message(true, 1, 1, b[0].send));  // two for one pair
  CHECK(exchange(other).empty());
  other = ranks;
  other[1][0].dtype = PURLIN_F32;
  CHECK(exchange(other).empty());
}

TEST_CASE("pairs without a message are parts of no bytes, and a ring stays a ring") {
  Buffers b[3]{};
  std::vector<std::vector<Message>> ring(3);
  for (int r = 0; r < 3; ++r) {
    ring[static_cast<size_t>(r)] = {message(true, (r + 1) % 3, 2, b[r].send),
                                    message(false, (r + 2) % 3, 2, b[r].recv)};
  }
  CHECK(exchange(ring).empty());
  ring[0].push_back(message(true, 2, 1, b[0].send + 4));
  ring[2].push_back(message(false, 0, 1, b[2].recv + 4));
  const auto calls = exchange(ring);
  REQUIRE(calls.size() == 3);
  CHECK(calls[0].send_bytes == std::vector<uint64_t>{0, 8, 4});
  CHECK(calls[2].recv_bytes == std::vector<uint64_t>{4, 8, 0});
  CHECK(calls[1].send_bytes == std::vector<uint64_t>{0, 0, 8});
}
