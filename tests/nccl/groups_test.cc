// Groups: what they hold back, what an error does to them, communicators split off and shrunk
// inside.
#include <thread>

#include "library.h"

namespace purlin::test {
namespace {

TEST_CASE("nothing happens before the outermost end") {
  Ranks ranks(2);
  int in[] = {1, 2}, out[] = {-1, -1};
  REQUIRE(lib().GroupStart() == kSuccess);
  for (int r = 0; r < 2; ++r) {
    REQUIRE(lib().GroupStart() == kSuccess);
    CHECK(lib().AllReduce(&in[r], &out[r], 1, 2, kSum, ranks[r], nullptr) == kSuccess);
    CHECK(lib().GroupEnd() == kSuccess);
  }
  CHECK(out[0] == -1);
  CHECK(lib().GroupEnd() == kSuccess);
  CHECK(out[0] == 3);
  CHECK(out[1] == 3);
  CHECK(lib().GroupEnd() == kInvalidUsage);
  CHECK(last_text().find("ncclGroupStart") != std::string::npos);
}

TEST_CASE("an error of a call is the group's, and none of it is carried out") {
  Ranks ranks(2);
  int in[] = {1, 2}, out[] = {-1, -1};
  SUBCASE("one that this library finds") {
    REQUIRE(lib().GroupStart() == kSuccess);
    for (int r = 0; r < 2; ++r)
      CHECK(lib().AllReduce(&in[r], &out[r], 1, 2, kSum, ranks[r], nullptr) == kSuccess);
    CHECK(lib().AllReduce(&in[0], &out[0], 1, 99, kSum, ranks[0], nullptr) == kInvalidArgument);
  }
  SUBCASE("one that libpurlin finds") {
    REQUIRE(lib().GroupStart() == kSuccess);
    for (int r = 0; r < 2; ++r)
      CHECK(lib().Broadcast(&in[r], &out[r], 1, 2, 0, ranks[r], nullptr) == kSuccess);
    CHECK(lib().Broadcast(&in[0], &out[0], 1, 2, 7, ranks[0], nullptr) == kInvalidArgument);
  }
  SUBCASE("a communicator that is none") {
    REQUIRE(lib().GroupStart() == kSuccess);
    CHECK(lib().AllReduce(&in[0], &out[0], 1, 2, kSum, ranks[0], nullptr) == kSuccess);
    CHECK(lib().AllReduce(&in[0], &out[0], 1, 2, kSum, nullptr, nullptr) == kInvalidArgument);
  }
  CHECK(lib().GroupEnd() == kInvalidArgument);
  CHECK(last_text().find("none was carried out") != std::string::npos);
  CHECK(out[0] == -1);
  const Result next = ranks.group(
      [&](int r) { return lib().AllReduce(&in[r], &out[r], 1, 2, kSum, ranks[r], nullptr); });
  CHECK(next == kSuccess);
  CHECK(out[1] == 3);
}

TEST_CASE("a simulated end closes the group and says that it did nothing") {
  Ranks ranks(1);
  int in = 5, out = -1;
  REQUIRE(lib().GroupStart() == kSuccess);
  CHECK(lib().AllReduce(&in, &out, 1, 2, kSum, ranks[0], nullptr) == kSuccess);
  CHECK(lib().GroupSimulateEnd(nullptr) == kInvalidUsage);
  CHECK(out == -1);
  CHECK(lib().AllReduce(&in, &out, 1, 2, kSum, ranks[0], nullptr) == kSuccess);
  CHECK(out == 5);
}

TEST_CASE("one thread splits all ranks in a group") {
  Ranks ranks(4);
  std::vector<CommHandle> halves(4);
  const Result split = ranks.group([&](int r) {
    return lib().CommSplit(ranks[r], r == 3 ? kNoColor : r % 2, -r, &halves[static_cast<size_t>(r)],
                           nullptr);
  });
  REQUIRE_MESSAGE(split == kSuccess, last_text());
  CHECK(halves[3] == nullptr);
  const int expected[] = {1, 0, 0};  // by key: rank 2 comes before rank 0
  for (int r = 0; r < 3; ++r) {
    int rank = -1, count = -1;
    CHECK(lib().CommUserRank(halves[static_cast<size_t>(r)], &rank) == kSuccess);
    CHECK(lib().CommCount(halves[static_cast<size_t>(r)], &count) == kSuccess);
    CHECK(rank == expected[r]);
    CHECK(count == (r == 1 ? 1 : 2));
  }
  int in[] = {5, 0, 7}, out[] = {0, 0, 0};
  REQUIRE(lib().GroupStart() == kSuccess);
  for (int r : {0, 2})
    CHECK(lib().AllReduce(&in[r], &out[r], 1, 2, kSum, halves[static_cast<size_t>(r)], nullptr) ==
          kSuccess);
  CHECK(lib().GroupEnd() == kSuccess);
  CHECK(out[0] == 12);
  CHECK(out[2] == 12);
  for (int r = 0; r < 3; ++r) CHECK(lib().CommDestroy(halves[static_cast<size_t>(r)]) == kSuccess);
}

TEST_CASE("a split that does not block is made in the background") {
  Ranks ranks(2);
  WholeConfig config = default_config();
  config.known.blocking = 0;
  CommHandle children[2] = {};
  for (int r = 0; r < 2; ++r)
    CHECK(lib().CommSplit(ranks[r], 0, r, &children[r], &config) == kInProgress);
  for (CommHandle child : children) CHECK(wait_until_settled(child) == kSuccess);
  int rank = -1;
  CHECK(lib().CommUserRank(children[1], &rank) == kSuccess);
  CHECK(rank == 1);
  for (CommHandle child : children) CHECK(lib().CommDestroy(child) == kSuccess);
}

TEST_CASE("of a split that does not block, ranks that join nothing do not wait either") {
  Ranks ranks(2);
  WholeConfig config = default_config();
  config.known.blocking = 0;
  CommHandle none = ranks[0], child = nullptr;
  CHECK(lib().CommSplit(ranks[0], kNoColor, 0, &none, &config) == kSuccess);
  CHECK(none == nullptr);
  CHECK(lib().CommSplit(ranks[1], 4, 0, &child, &config) == kInProgress);
  CHECK(wait_until_settled(child) == kSuccess);
  int count = -1;
  CHECK(lib().CommCount(child, &count) == kSuccess);
  CHECK(count == 1);
  CHECK(lib().CommDestroy(child) == kSuccess);
}

// The ranks that stay; each on a thread of its own.
std::vector<CommHandle> shrink(Ranks& ranks, std::vector<int> gone, int flags) {
  std::vector<CommHandle> made(static_cast<size_t>(ranks.size()), nullptr);
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks.size(); ++r) {
    if (std::find(gone.begin(), gone.end(), r) != gone.end()) continue;
    threads.emplace_back([&, r] {
      static_cast<void>(lib().CommShrink(ranks[r], gone.data(), static_cast<int>(gone.size()),
                                         &made[static_cast<size_t>(r)], nullptr, flags));
    });
  }
  for (std::thread& thread : threads) thread.join();
  return made;
}

void check_sum(const std::vector<CommHandle>& comms, int expected) {
  std::vector<int> sums(comms.size(), -1);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < comms.size(); ++i)
    if (comms[i] != nullptr)
      threads.emplace_back([&, i] {
        const int mine = static_cast<int>(i);
        static_cast<void>(lib().AllReduce(&mine, &sums[i], 1, 2, kSum, comms[i], nullptr));
      });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < comms.size(); ++i)
    if (comms[i] != nullptr) CHECK(sums[i] == expected);
}

void destroy(const std::vector<CommHandle>& comms) {
  for (CommHandle comm : comms)
    if (comm != nullptr) CHECK(lib().CommDestroy(comm) == kSuccess);
}

TEST_CASE("a communicator shrinks, several times, without the ranks that go") {
  Ranks ranks(4);
  const auto three = shrink(ranks, {1}, 0);
  REQUIRE(three[3] != nullptr);
  int rank = -1, count = -1;
  CHECK(lib().CommUserRank(three[3], &rank) == kSuccess);
  CHECK(lib().CommCount(three[3], &count) == kSuccess);
  CHECK(rank == 2);
  CHECK(count == 3);
  check_sum(three, 0 + 2 + 3);
  const auto two = shrink(ranks, {3, 0}, 0);  // with a rank that knew nothing of the first
  check_sum(two, 1 + 2);
  const auto again = shrink(ranks, {1}, 0);
  check_sum(again, 0 + 2 + 3);
  destroy(three), destroy(two), destroy(again);
}

TEST_CASE("a broken communicator can be shrunk too") {
  Ranks ranks(3);
  std::thread waiter([&] {
    int number = 1;
    CHECK(lib().AllReduce(&number, &number, 1, 2, kSum, ranks[0], nullptr) == kRemoteError);
  });
  CHECK(lib().CommAbort(ranks[2]) == kSuccess);
  ranks[2] = nullptr;
  waiter.join();
  const auto two = shrink(ranks, {2}, 1);
  check_sum(two, 0 + 1);
  destroy(two);
}

TEST_CASE("wrong arguments of split and shrink are said") {
  Ranks ranks(2);
  CommHandle made = nullptr;
  CHECK(lib().CommSplit(nullptr, 0, 0, &made, nullptr) == kInvalidArgument);
  CHECK(lib().CommSplit(ranks[0], -3, 0, &made, nullptr) == kInvalidArgument);
  CHECK(lib().CommSplit(ranks[0], 0, 0, nullptr, nullptr) == kInvalidArgument);
  int gone[] = {0, 2, 1, 1};
  CHECK(lib().CommShrink(ranks[0], gone, 1, &made, nullptr, 0) == kInvalidArgument);
  CHECK(last_text().find("only the ranks that stay call") != std::string::npos);
  CHECK(lib().CommShrink(ranks[0], gone + 1, 1, &made, nullptr, 0) == kInvalidArgument);
  CHECK(lib().CommShrink(ranks[0], gone + 2, 2, &made, nullptr, 0) == kInvalidArgument);
  CHECK(lib().CommShrink(ranks[0], gone, 0, &made, nullptr, 0) == kInvalidArgument);
  CHECK(lib().CommShrink(ranks[0], gone + 2, 1, &made, nullptr, 8) == kInvalidArgument);
  CHECK(made == nullptr);
}

}  // namespace
}  // namespace purlin::test
