// Processes that read each other's input where it lies.
#include <sched.h>

#include <random>
#include <thread>

#include "level.h"
#include "runtime/communicator/processes/team_checks.h"

using namespace purlin_test;
using purlin::test::is_full;
using purlin::test::seed;

namespace {

// Ranks without a core each stage; that is all that can be tried then.
bool enough_cores() {
  cpu_set_t cores;
  const bool enough = ::sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) >= 2;
  if (!enough)
    purlin::test::skip("two ranks share one core, so they do not read each other's memory");
  return enough;
}

}  // namespace

TEST_CASE("processes with a core each read in place, and else all stage and say why") {
  if (!enough_cores()) return;
  Team team(2, kLong);
  check_all(team.ask_all("create main"), "ok");
  check_all(team.ask_all("notes main"), "offer []");
  check_all(team.ask_all("sweep 100 " + std::to_string(seed() * 43)), "ok");
  REQUIRE(team[1].ask("surroundings no-reading") == "ok");
  check_all(team.ask_all("create refused"), "ok");
  check_all_say(team.ask_all("notes refused"),
                {"stage [", "staged rather than read where it lies",
                 "rank 1 cannot read the memory of rank 0: Operation not permitted"});
  check_all(team.ask_all("sweep 100 " + std::to_string(seed() * 47)), "ok");
  purlin::test::count_cases(200);
}

TEST_CASE("a rank that may no longer read stops the call on all ranks, and says what to do") {
  if (!enough_cores()) return;
  Team team(2, kLong);
  check_all(team.ask_all("create main"), "ok");
  REQUIRE(team[1].ask("surroundings no-reading") == "ok");
  check_all_say(team.ask_all("repeat-gather main 100000"),
                {"PURLIN_SYSTEM_ERROR", "rank 1", "cannot read the input of rank 0",
                 "Operation not permitted", "all_gather of 100000 u32", "zero_copy: off"});
  check_all(team.ask_all("create anew"), "ok");
  check_all(team.ask_all("reduce anew 1000"), "ok");
}

TEST_CASE("more ranks than cores stage, and say so") {
  Team team(8, kLong);
  for (int r = 0; r < 8; ++r) REQUIRE(team[r].ask("surroundings core") == "ok");
  check_all(team.ask_all("create main"), "ok");
  check_all_say(team.ask_all("notes main"), {"stage [", "8 ranks share 1 cores"});
}

TEST_CASE("a rank killed while it is read, or reads: the others' call ends at once, and names it") {
  std::mt19937_64 random(seed() * 31 + 13);
  const int trials = is_full() ? 100 : 8;
  for (int trial = 0; trial < trials; ++trial) {
    const int victim = trial % 2;
    Team team(2, kLong);
    check_all(team.ask_all("create main"), "ok");
    team.send_all("repeat-gather main 200000");
    std::this_thread::sleep_for(
        std::chrono::microseconds(random() % 20'000));  // any moment will do
    team.kill(victim);
    const Stopwatch watch;
    check_says(team[1 - victim].receive(), {"PURLIN_PEER_LOST", "rank " + std::to_string(victim)});
    CHECK(watch.seconds() < 20);
  }
  purlin::test::count_cases(static_cast<uint64_t>(trials));
}
