// Containers with little or no /dev/shm, nothing writable, few descriptors: calls do not care.
#include "level.h"
#include "runtime/communicator/processes/team_checks.h"

using namespace purlin_test;
using purlin::test::is_full;
using purlin::test::seed;

namespace {

// Every rank goes on in surroundings of that kind; false, counted as a skip, where this machine
// does not let it.
bool moved(Team& team, const std::string& kind) {
  for (const std::string& answer : team.ask_all("surroundings " + kind)) {
    if (answer.empty() || answer == "ok") continue;
    purlin::test::skip("surroundings " + kind + ": " + answer);
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("any /dev/shm will do: calls of 64 MiB, many communicators") {
  uint64_t turn = seed();
  for (const std::string kind : {"shm 64m", "shm 8m", "shm 1m", "shm-full", "shm-read-only",
                                 "shm-missing", "shm-stranger"}) {
    CAPTURE(kind);
    ++turn;
    for (const int n : {2, 8}) {
      if (!is_full() && (turn % 2 == 0) != (n == 2)) continue;  // each kind with one of them, by turns
      Team team(n, 30'000);
      if (!moved(team, kind) || !moved(team, "no-tmp")) continue;
      check_all(team.ask_all("create main"), "ok");
      check_all(team.ask_all(n == 2 ? "reduce main 16777216" : "reduce main 1000000"), "ok");
      check_all(team.ask_all("burst 5"), "ok");
      check_all(team.ask_all("destroy main"), "ok");
      CHECK(sockets_named(team.name()) == 0);
    }
  }
}

TEST_CASE("thirty-two processes share a communicator") {
  Team team(32, 60'000);
  if (!moved(team, "shm-missing")) return;
  check_all(team.ask_all("create main"), "ok");
  check_all(team.ask_all("reduce main 1000"), "ok");
  check_all(team.ask_all("reduce main 100000"), "ok");
}

TEST_CASE("a rank in surroundings of its own works with ranks outside") {
  Team team(3, 30'000);
  const std::string answer = team[1].ask("surroundings shm-missing");
  if (answer != "ok") {
    purlin::test::skip("surroundings shm-missing: " + answer);
    return;
  }
  check_all(team.ask_all("create main"), "ok");
  check_all(team.ask_all("reduce main 1000000"), "ok");
}
