// Messages between processes, and processes that disagree.
#include "level.h"
#include "runtime/communicator/processes/team_checks.h"

using namespace purlin_test;
using purlin::test::is_full;
using purlin::test::seed;

TEST_CASE("random exchanges of messages between processes are exact") {
  for (const int n : {1, 2, 3, 5, 8}) {
    const int rounds = is_full() ? 300 : 20;
    Team team(n, 30'000);
    check_all(
        team.ask_all("messages " + std::to_string(rounds) + " " + std::to_string(seed() * 77)),
        "ok");
    purlin::test::count_cases(static_cast<uint64_t>(rounds));
  }
}

TEST_CASE("processes that disagree all learn which rank differs and both values") {
  struct Difference {
    const char* what;
    std::vector<std::string> words;
  };
  const Difference differences[] = {{"count", {"40 f32", "39 f32"}},
                                    {"dtype", {"40 f32", "40 i32"}},
                                    {"op", {"sum", "max"}},
                                    {"root", {"root 0", "root 1"}},
                                    {"collective", {"all_gather", "all_to_all"}},
                                    {"message", {"9000 f32", "8000 f32"}}};
  for (const int n : {2, 4})
    for (const Difference& d : differences) {
      Team team(n, 30'000);
      const auto answers = team.ask_all(std::string("differ ") + d.what);
      check_all_say(answers,
                    {"PURLIN_MISMATCH", "rank " + std::to_string(n - 1), d.words[0], d.words[1]});
    }
}

TEST_CASE("a process that is killed ends the waits for its messages") {
  const int n = 3;
  Team team(n, 30'000);
  team[0].send("create odd");
  for (int r = 1; r < n; ++r) team[r].send("differ nothing");
  CHECK(team[0].receive() == "ok");  // all have joined
  team.kill(0);
  for (int r = 1; r < n; ++r) check_says(team[r].receive(), {"PURLIN_PEER_LOST", "rank 0"});
}
