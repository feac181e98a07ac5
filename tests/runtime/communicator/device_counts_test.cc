// Counts that are read when the call runs: host ranks read them from the arrays at that moment.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "ranks.h"

using namespace purlin::test;

namespace {

purlin_call v_call(int collective, const int32_t* send, int32_t* recv) {
  purlin_call call{};
  call.struct_size = sizeof call;
  call.collective = collective;
  call.dtype = PURLIN_I32;
  call.op = PURLIN_SUM;
  call.send = send;
  call.recv = recv;
  call.counts_on_device = 1;
  return call;
}

}  // namespace

TEST_CASE("counts written after the call was issued are the ones that count") {
  const int n = 3;
  const Ranks ranks(n);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  for (const uint64_t bound : {uint64_t{100}, uint64_t{20'000}}) {  // by packets, by chunks
    ranks.each([&](int r) {
      std::vector<int32_t> in(bound, r + 1), gathered(3 * bound, -1), sum(bound, -1),
          swapped(3 * bound, -1);
      std::vector<uint64_t> counts(n, ~uint64_t{0}), places = {7, 0, 40}, ones(n, ~uint64_t{0});
      purlin_call gather = v_call(PURLIN_ALL_GATHER_V, in.data(), gathered.data());
      gather.recv_counts = counts.data();
      gather.recv_displs = places.data();
      purlin_call scatter = v_call(PURLIN_REDUCE_SCATTER_V, in.data(), sum.data());
      scatter.send_counts = counts.data();
      purlin_call swap = v_call(PURLIN_ALL_TO_ALL_V, in.data(), swapped.data());
      swap.send_counts = swap.recv_counts = ones.data();
      purlin_group_start();
      for (purlin_call* call : {&gather, &scatter, &swap}) {
        call->bound_part = bound;
        call->bound_total = bound * 3;
        CHECK(purlin_run(call, ranks.comm(r), nullptr) == PURLIN_OK);
      }
      counts = {3, 5, 0};
      ones = {1, 1, 1};
      const purlin_status status = purlin_group_end();
      const std::string text = purlin_last_error();
      REQUIRE_MESSAGE(status == PURLIN_OK, text);
      for (size_t i = 0; i < gathered.size(); ++i)
        REQUIRE(gathered[i] == (i >= 7 && i < 10 ? 1 : i < 5 ? 2 : -1));
      for (size_t i = 0; i < sum.size(); ++i)
        REQUIRE(sum[i] == (i < counts[static_cast<size_t>(r)] ? 6 : -1));
      for (size_t i = 0; i < swapped.size(); ++i)
        REQUIRE(swapped[i] == (i < 3 ? static_cast<int32_t>(i) + 1 : -1));
    });
  }
}

TEST_CASE("a count above its bound is an error on all ranks, and nothing is written") {
  struct Excess {
    int collective;
    std::vector<uint64_t> counts;
    const char* words[2];
  };
  const Excess cases[] = {{PURLIN_ALL_GATHER_V, {3, 11, 0}, {"44 bytes", "40 bytes"}},
                          {PURLIN_REDUCE_SCATTER_V, {9, 9, 9}, {"108 bytes", "80 bytes"}},
                          {PURLIN_ALL_TO_ALL_V, {0, 0, ~uint64_t{0}}, {"rank 1", "40 bytes"}}};
  for (const Excess& e : cases) {
    const Ranks ranks(3);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    std::vector<std::string> text(3);
    ranks.each([&](int r) {
      std::vector<int32_t> in(64, r), out(64, -1);
      // Rank 1 alone has the excess: it is found there and told to the others.
      const std::vector<uint64_t> counts = r == 1 ? e.counts : std::vector<uint64_t>{1, 1, 1};
      purlin_call call = v_call(e.collective, in.data(), out.data());
      call.send_counts = call.recv_counts = counts.data();
      call.bound_part = 10;
      call.bound_total = 20;
      CHECK(purlin_run(&call, ranks.comm(r), nullptr) == PURLIN_INVALID_ARGUMENT);
      text[static_cast<size_t>(r)] = purlin_last_error();
      if (r == 1) CHECK((out == std::vector<int32_t>(64, -1)));
    });
    for (const std::string& t : text) {
      CAPTURE(t);
      for (const char* word : e.words) CHECK(t.find(word) != std::string::npos);
    }
  }
}

TEST_CASE("bounds that differ between ranks, or make no sense, are told") {
  const Ranks ranks(2);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  ranks.each([&](int r) {
    std::vector<int32_t> in(8, r), out(40'000, -1);
    const uint64_t counts[] = {1, 1};
    purlin_call call = v_call(PURLIN_ALL_GATHER_V, in.data(), out.data());
    call.bound_part = call.bound_total = 10;
    CHECK(purlin_run(&call, ranks.comm(r), nullptr) == PURLIN_INVALID_ARGUMENT);  // null counts
    call.recv_counts = counts;
    call.bound_part = 11;
    CHECK(purlin_run(&call, ranks.comm(r), nullptr) == PURLIN_INVALID_ARGUMENT);
    call.bound_part = 10;
    call.bound_total = r == 0 ? 10 : 20'000;  // packets on one rank, chunks on the other
    CHECK(purlin_run(&call, ranks.comm(r), nullptr) == PURLIN_MISMATCH);
    const std::string text = purlin_last_error();
    CAPTURE(text);
    CHECK(text.find("at most 10") != std::string::npos);
    CHECK(text.find("at most 20000") != std::string::npos);
  });
}
