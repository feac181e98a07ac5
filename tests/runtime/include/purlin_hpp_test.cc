#include <doctest/doctest.h>

#include <array>
#include <numeric>
#include <type_traits>

#include "fake_purlin.h"
#include "purlin/memory.hpp"
#include "purlin/purlin.hpp"

namespace {

using purlin::Communicator;
using purlin::Error;
using purlin::Outcome;

Communicator fresh() {
  fake() = FakePurlin();
  Communicator comm = Communicator::create();
  fake().functions.clear();
  return comm;
}

static_assert(!std::is_copy_constructible_v<Communicator>);
static_assert(std::is_nothrow_move_constructible_v<Communicator>);
static_assert(purlin::OutputFor<std::vector<float>&, std::array<float, 3>>);
static_assert(!purlin::OutputFor<const std::vector<float>&, std::vector<float>>);
static_assert(!purlin::OutputFor<std::vector<double>&, std::vector<float>>);
static_assert(!purlin::Buffer<std::vector<std::string>>);

TEST_CASE("a handle is destroyed exactly once, by its last owner") {
  {
    Communicator first = fresh();
    CHECK(fake().live == 1);
    Communicator second = std::move(first);
    CHECK(!first);  // NOLINT(bugprone-use-after-move): what is left is part of the contract
    CHECK(second);
    CHECK(fake().live == 1);
    Communicator none = second.split(-1);
    CHECK(!none);
    Communicator half = second.split(0);
    CHECK(fake().live == 2);
    half.destroy();
    CHECK(!half);
  }
  CHECK(fake().live == 0);
}

TEST_CASE("all ranks of a process come in rank order and check their devices") {
  fake() = FakePurlin();
  {
    const std::vector<Communicator> comms = Communicator::create_all(3);
    CHECK(comms.size() == 3);
    CHECK(fake().live == 3);
  }
  CHECK(fake().live == 0);
  const std::array<int, 2> devices{0, 1};
  CHECK_THROWS_AS((void)Communicator::create_all(3, devices), Error);
}

TEST_CASE("a call carries collective, dtype, op, root, count and buffers") {
  Communicator comm = fresh();
  std::vector<double> send(12), recv(12);
  comm.all_reduce(send, recv, PURLIN_MAX);
  CHECK(fake().call.struct_size == sizeof(purlin_call));
  CHECK(fake().call.collective == PURLIN_ALL_REDUCE);
  CHECK(fake().call.dtype == PURLIN_F64);
  CHECK(fake().call.op == PURLIN_MAX);
  CHECK(fake().call.count == 12);
  CHECK(fake().call.send == send.data());
  CHECK(fake().call.recv == recv.data());

  std::array<uint8_t, 3> share{};
  std::array<uint8_t, 12> whole{};
  comm.all_gather(share, whole);
  CHECK(fake().call.collective == PURLIN_ALL_GATHER);
  CHECK(fake().call.count == 3);
  comm.reduce_scatter(whole, share);
  CHECK(fake().call.collective == PURLIN_REDUCE_SCATTER);
  CHECK(fake().call.count == 3);
  comm.all_to_all(whole, whole);
  CHECK(fake().call.collective == PURLIN_ALL_TO_ALL);
  CHECK(fake().call.count == 3);
  CHECK(fake().call.dtype == PURLIN_U8);
}

TEST_CASE("rooted calls need a full buffer on the root alone") {
  Communicator comm = fresh();
  std::vector<int32_t> share(3), whole(12), nothing;
  comm.broadcast(nothing, share, 0);
  CHECK(fake().call.root == 0);
  CHECK(fake().call.count == 3);
  comm.reduce(share, nothing, 2);
  CHECK(fake().call.root == 2);
  comm.scatter(nothing, share, 0);
  comm.gather(share, nothing, 0);
  CHECK(fake().call.count == 3);
  CHECK_THROWS_AS(comm.broadcast(nothing, share, 1), Error);  // this is rank 1
  CHECK_THROWS_AS(comm.gather(share, nothing, 1), Error);
  comm.scatter(whole, share, 1);
  comm.gather(share, whole, 1);
}

TEST_CASE("buffers that do not fit are refused before the call, with both numbers") {
  Communicator comm = fresh();
  std::vector<float> send(3), recv(11);
  const Outcome outcome = comm.try_all_gather(send, recv);
  CHECK(!outcome);
  CHECK(outcome.code() == PURLIN_INVALID_ARGUMENT);
  CHECK(outcome.text().find("recv of rank 1 has 11 elements, but must have 12") !=
        std::string::npos);
  CHECK(!comm.try_all_to_all(recv, recv));  // 11 elements are no 4 equal regions
  const std::array<uint64_t, 3> three{1, 1, 1};
  const Outcome counts = comm.try_all_gather_v(send, recv, three);
  CHECK(counts.text().find("3 entries, but there are 4 ranks") != std::string::npos);
  CHECK(fake().functions.empty());
}

TEST_CASE("V forms pass arrays of one entry a rank") {
  Communicator comm = fresh();
  std::vector<float> send(4), recv(4);
  const std::array<uint64_t, 4> counts{1, 1, 1, 1}, displacements{0, 1, 2, 3};
  comm.all_gather_v(std::span(send).first(1), recv, counts, displacements);
  comm.reduce_scatter_v(send, counts, std::span(recv).first(1), PURLIN_SUM);
  comm.all_to_all_v(send, counts, recv, counts, displacements, displacements);
  CHECK(fake().functions ==
        std::vector<std::string>{"all_gather_v", "reduce_scatter_v", "all_to_all_v"});
}

TEST_CASE("a failed call throws, its try_ form returns, both with code and text") {
  Communicator comm = fresh();
  std::vector<float> data(8);
  fake().next = PURLIN_TIMEOUT;
  fake().error = "rank 3 did not arrive";
  const Outcome outcome = comm.try_all_reduce(data, data);
  CHECK(outcome.code() == PURLIN_TIMEOUT);
  CHECK(outcome.text() == "rank 3 did not arrive");
  try {
    comm.all_reduce(data, data);
    FAIL("no exception");
  } catch (const Error& error) {
    CHECK(error.code() == PURLIN_TIMEOUT);
    CHECK(std::string(error.what()) == "rank 3 did not arrive");
  }
  CHECK(comm.async_error().text() == "rank 3 did not arrive");
  CHECK_THROWS_AS((void)Communicator::create(), Error);
  fake().next = PURLIN_OK;
}

TEST_CASE("non-blocking creation keeps its handle while in progress") {
  fake() = FakePurlin();
  fake().next = PURLIN_IN_PROGRESS;
  Communicator comm;
  CHECK(Communicator::try_create(purlin::default_options(), comm));
  CHECK(comm);
  CHECK(comm.async_error().code() == PURLIN_IN_PROGRESS);
}

TEST_CASE("a group is closed whether its calls return or throw") {
  Communicator comm = fresh();
  std::vector<float> data(8);
  purlin::group([&] {
    comm.send(data, 0);
    comm.recv(data, 0);
  });
  CHECK(fake().functions == std::vector<std::string>{"group_start", "send", "recv", "group_end"});
  CHECK_THROWS_AS(purlin::group([] { throw std::logic_error("no"); }), std::logic_error);
  CHECK(fake().functions.back() == "group_end");
}

TEST_CASE("memory and registrations end with their owners, the registration first") {
  Communicator comm = fresh();
  {
    purlin::Memory memory(4096);
    CHECK(memory.bytes() == 4096);
    purlin::Registration registration(comm.get(), memory.get(), memory.bytes());
    purlin::Registration moved = std::move(registration);
  }
  CHECK(fake().functions ==
        std::vector<std::string>{"mem_alloc", "register", "deregister", "mem_free"});
}

TEST_CASE("the remaining functions reach their C twins") {
  Communicator comm = fresh();
  comm.barrier();
  comm.prepare(std::array<purlin_call, 1>{});
  comm.abort();
  (void)purlin::unique_id();
  CHECK(comm.rank() == 1);
  CHECK(comm.size() == 4);
  CHECK(fake().functions ==
        std::vector<std::string>{"barrier", "prepare", "comm_abort", "get_unique_id"});
}

}  // namespace
