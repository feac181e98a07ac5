// How communicators come to be and end.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "library.h"

namespace purlin::test {
namespace {

TEST_CASE("one thread makes all ranks in a group, or with ncclCommInitAll") {
  Ranks ranks(4);
  std::vector<CommHandle> all(3);
  REQUIRE_MESSAGE(lib().CommInitAll(all.data(), 3, nullptr) == kSuccess, last_text());
  for (int r = 0; r < 7; ++r) {
    const CommHandle comm = r < 4 ? ranks[r] : all[static_cast<size_t>(r - 4)];
    int rank = -1, count = -1, device = 0;
    CHECK(lib().CommUserRank(comm, &rank) == kSuccess);
    CHECK(lib().CommCount(comm, &count) == kSuccess);
    CHECK(lib().CommCuDevice(comm, &device) == kSuccess);
    CHECK(rank == (r < 4 ? r : r - 4));
    CHECK(count == (r < 4 ? 4 : 3));
    CHECK(device == -1);
  }
  for (CommHandle comm : all) CHECK(lib().CommDestroy(comm) == kSuccess);
}

TEST_CASE("threads make a rank each, without a group") {
  UniqueId ids[2];
  REQUIRE(lib().GetUniqueId(&ids[0]) == kSuccess);
  REQUIRE(lib().GetUniqueId(&ids[1]) == kSuccess);
  std::vector<Result> results(3, kInternalError);
  std::vector<std::thread> threads;
  for (int r = 0; r < 3; ++r)
    threads.emplace_back([&, r] {
      CommHandle comm = nullptr;
      WholeConfig config = default_config();
      Result result = lib().CommInitRankScalable(&comm, 3, r, 2, ids, &config);
      int mine = r, sum = 0;
      if (result == kSuccess) result = lib().AllReduce(&mine, &sum, 1, 2, kSum, comm, nullptr);
      if (result == kSuccess && sum != 3) result = kInternalError;
      if (result == kSuccess) result = lib().CommDestroy(comm);
      results[static_cast<size_t>(r)] = result;
    });
  for (std::thread& thread : threads) thread.join();
  for (Result result : results) CHECK(result == kSuccess);
}

TEST_CASE("a creation that does not block is in progress until all ranks are there") {
  UniqueId id;
  REQUIRE(lib().GetUniqueId(&id) == kSuccess);
  WholeConfig config = default_config();
  config.known.blocking = 0;
  CommHandle first = nullptr, second = nullptr;
  CHECK(lib().CommInitRankConfig(&first, 2, id, 0, &config) == kInProgress);
  REQUIRE(first != nullptr);
  Result state = kSuccess;
  CHECK(lib().CommGetAsyncError(first, &state) == kSuccess);
  CHECK(state == kInProgress);
  int number = 0;
  CHECK(lib().AllReduce(&number, &number, 1, 2, kSum, first, nullptr) == kInvalidUsage);
  CHECK(last_text().find("ncclCommGetAsyncError") != std::string::npos);
  REQUIRE(lib().GroupStart() == kSuccess);
  CHECK(lib().CommInitRankConfig(&second, 2, id, 1, &config) == kSuccess);
  CHECK(lib().GroupEnd() == kInProgress);
  CHECK(wait_until_settled(first) == kSuccess);
  CHECK(wait_until_settled(second) == kSuccess);
  SUBCASE("destroyed") {
    CHECK(lib().CommDestroy(first) == kSuccess);
    CHECK(lib().CommDestroy(second) == kSuccess);
  }
  SUBCASE("finalized, which does not block either") {
    CHECK(lib().CommFinalize(first) == kInProgress);
    CHECK(lib().CommFinalize(second) == kInProgress);
    CHECK(wait_until_settled(first) == kSuccess);
    CHECK(wait_until_settled(second) == kSuccess);
    CHECK(lib().CommDestroy(first) == kSuccess);
    CHECK(lib().CommDestroy(second) == kSuccess);
  }
}

TEST_CASE("a creation in the background is ended by ncclCommAbort") {
  UniqueId id;
  REQUIRE(lib().GetUniqueId(&id) == kSuccess);
  WholeConfig config = default_config();
  config.known.blocking = 0;
  CommHandle alone = nullptr;
  CHECK(lib().CommInitRankConfig(&alone, 2, id, 0, &config) == kInProgress);
  CHECK(lib().CommAbort(alone) == kSuccess);
  CHECK(lib().CommAbort(alone) == kInvalidArgument);
}

TEST_CASE("finalized communicators take no calls and are destroyed once") {
  Ranks ranks(2);
  for (int r = 0; r < 2; ++r) CHECK(lib().CommFinalize(ranks[r]) == kSuccess);
  int number = 0;
  CHECK(lib().Bcast(&number, 1, 2, 0, ranks[0], nullptr) == kInvalidUsage);
  CHECK(lib().CommFinalize(ranks[0]) == kInvalidUsage);
  Result state = kInternalError;
  CHECK(lib().CommGetAsyncError(ranks[0], &state) == kSuccess);
  CHECK(state == kSuccess);
  const CommHandle gone = ranks[0];
  CHECK(lib().CommDestroy(gone) == kSuccess);
  ranks[0] = nullptr;
  CHECK(lib().CommDestroy(gone) == kInvalidArgument);
  CHECK(lib().CommGetAsyncError(gone, &state) == kInvalidArgument);
}

TEST_CASE("wrong arguments of a creation are said, and give no handle") {
  UniqueId id;
  REQUIRE(lib().GetUniqueId(&id) == kSuccess);
  CommHandle comm = reinterpret_cast<CommHandle>(1);
  CHECK(lib().CommInitRank(nullptr, 1, id, 0) == kInvalidArgument);
  CHECK(lib().CommInitRank(&comm, 0, id, 0) == kInvalidArgument);
  CHECK(comm == nullptr);
  CHECK(lib().CommInitRank(&comm, 2, id, 2) == kInvalidArgument);
  CHECK(last_text().find("rank is 2") != std::string::npos);
  CHECK(lib().CommInitRankScalable(&comm, 1, 0, 0, &id, nullptr) == kInvalidArgument);
  setenv("PURLIN_NCCL_DEVICE", "hosts", 1);
  CHECK(lib().CommInitRank(&comm, 1, id, 0) == kInvalidUsage);
  CHECK(last_text().find("hosts") != std::string::npos);
  setenv("PURLIN_NCCL_DEVICE", "host", 1);
  UniqueId zero{};
  CHECK(lib().CommInitRank(&comm, 2, zero, 0) == kInvalidArgument);
  CHECK(last_text().find("unique id") != std::string::npos);
  CHECK(comm == nullptr);
}

TEST_CASE("configurations are read as far as they go") {
  UniqueId id;
  REQUIRE(lib().GetUniqueId(&id) == kSuccess);
  WholeConfig config = default_config();
  CommHandle comm = nullptr;
  const auto refused = [&](const char* why) {
    CHECK(lib().CommInitRankConfig(&comm, 1, id, 0, &config) == kInvalidArgument);
    CHECK_MESSAGE(last_text().find(why) != std::string::npos, last_text());
    config = default_config();
  };
  config.known.magic = 7;
  refused("NCCL_CONFIG_INITIALIZER");
  config.known.blocking = 2;
  refused("blocking is 2");
  config.known.min_ctas = 8, config.known.max_ctas = 4;
  refused("above maxCTAs");
  config.known.cluster_size = 9;
  refused("cgaClusterSize");
  config.known.split_share = 5;
  refused("splitShare");
  config.known.size = offsetof(Config, max_ctas);  // as of an older header
  config.known.max_ctas = -1;
  REQUIRE(lib().CommInitRankConfig(&comm, 1, id, 0, &config) == kSuccess);
  CHECK(lib().CommDestroy(comm) == kSuccess);
}

TEST_CASE("ranks of an aborted communicator learn of it") {
  Ranks ranks(2);
  std::atomic<Result> waited{kSuccess};
  std::thread waiter([&] {
    int number = 1;
    waited = lib().AllReduce(&number, &number, 1, 2, kSum, ranks[0], nullptr);
  });
  CHECK(lib().CommAbort(ranks[1]) == kSuccess);
  ranks[1] = nullptr;
  waiter.join();
  CHECK(waited == kRemoteError);
  Result state = kSuccess;
  CHECK(lib().CommGetAsyncError(ranks[0], &state) == kSuccess);
  CHECK(state == kRemoteError);
  CHECK(std::strlen(lib().GetLastError(ranks[0])) > 20);
}

}  // namespace
}  // namespace purlin::test
