// Communicators that are created behind the caller's back.
#include <doctest/doctest.h>

#include <chrono>
#include <random>
#include <thread>

#include "level.h"
#include "purlin/purlin.h"

namespace {

purlin_comm_t begin(int rank, const purlin_unique_id& id) {
  purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
  options.rank = rank;
  options.nranks = 2;
  options.unique_id = &id;
  options.nonblocking = 1;
  options.timeout_ms = 1'500;  // for the rank whose peer is gone before they have met
  options.device_kind = PURLIN_DEVICE_HOST;
  purlin_comm_t comm = nullptr;
  REQUIRE(purlin_comm_create(&comm, &options) == PURLIN_IN_PROGRESS);
  return comm;
}

purlin_status outcome(purlin_comm_t comm) {
  purlin_status status = PURLIN_IN_PROGRESS;
  while ((status = purlin_comm_async_error(comm)) == PURLIN_IN_PROGRESS)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // leaves the creators the cores
  return status;
}

// Whether the error comes within ten seconds.
bool breaks(purlin_comm_t comm) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < end) {
    if (outcome(comm) != PURLIN_OK) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace

TEST_CASE("an abort at any moment of a creation in the background is not lost") {
  std::mt19937_64 random(purlin::test::seed() * 31 + 3);
  constexpr int kRounds = 24;
  int created = 0;
  for (int round = 0; round < kRounds; ++round) {
    purlin_unique_id id;
    REQUIRE(purlin_get_unique_id(&id) == PURLIN_OK);
    purlin_comm_t comms[2] = {begin(0, id), begin(1, id)};
    const auto until = std::chrono::steady_clock::now() +
                       std::chrono::microseconds(500 + random() % 30'000);
    while (std::chrono::steady_clock::now() < until) {
    }
    created += purlin_comm_async_error(comms[0]) == PURLIN_OK;
    CHECK(purlin_comm_abort(comms[0]) == PURLIN_OK);
    for (purlin_comm_t comm : comms) CHECK(breaks(comm));
    for (purlin_comm_t comm : comms) purlin_comm_destroy(comm);
    purlin::test::count_cases(1);
  }
  MESSAGE(created, " of ", kRounds, " were created by then");
}
