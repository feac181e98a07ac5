#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>

#include "level.h"
#include "runtime/rendezvous/rank_process.h"
#include "runtime/rendezvous/rank_threads.h"

namespace {

using namespace purlin_test;

constexpr int kLong = 60'000;

// Every rank does `preparation` first; false, counted as a skip, where this machine does not let
// it.
bool prepared(Team& team, const std::vector<int>& ranks, const std::string& preparation) {
  for (const int rank : ranks) {
    const std::string answer = team[rank].ask(preparation);
    if (answer == "ok") continue;
    purlin::test::skip(preparation + ": " + answer);
    return false;
  }
  return true;
}

void check_share(Team& team) {
  for (const char* command : {"join", "share", "park", "share"})
    for (const auto& answer : team.ask_all(command)) CHECK_MESSAGE(answer == "ok", answer);
}

// What the shell prints; stopped after 60 s.
std::string output_of(const std::string& script) {
  FILE* pipe = ::popen(("timeout 60 sh -c '" + script + "' 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  ::pclose(pipe);
  return text;
}

}  // namespace

TEST_CASE("no room in /dev/shm, nothing writable, TMPDIR long and missing: no matter") {
  Team team(3, kLong);
  if (prepared(team, {0, 1, 2}, "hostile-folders")) check_share(team);
}

TEST_CASE("ranks in mount namespaces of their own share memory with ranks outside") {
  Team team(3, kLong);
  if (prepared(team, {1}, "hostile-folders")) check_share(team);
}

TEST_CASE("ranks in process namespaces of their own are watched like others") {
  Team team(3, kLong);
  if (!prepared(team, {1, 2}, "process-space")) return;
  CHECK(team[1].ask("pid") == "1");
  CHECK(team[2].ask("pid") == "1");
  check_share(team);
  team[1].send("exit");
  for (const int r : {0, 2}) CHECK(team[r].ask("lost") == "rank 1");
}

TEST_CASE("a rank in a user namespace is the same user") {
  Team team(2, kLong);
  if (prepared(team, {1}, "user-space")) check_share(team);
}

TEST_CASE("plain variables: ranks meet by job, without a token, and jobs do not mix") {
  const std::string job = "test-" + std::to_string(::getpid());
  const std::string program = PURLIN_RANK_PROGRAM " 20000";
  std::string script;
  for (int j = 0; j < 2; ++j)
    for (int rank = 0; rank < 3; ++rank)
      script += "PURLIN_JOB_ID=" + job + std::to_string(j) + " RANK=" + std::to_string(rank) +
                " WORLD_SIZE=3 " + program + " & ";
  const std::string output = output_of(script + "wait");
  for (int rank = 0; rank < 3; ++rank) {
    const std::string line = "rank " + std::to_string(rank) + " met 0 1 2, no token\n";
    const size_t first = output.find(line);
    REQUIRE_MESSAGE(first != std::string::npos, output);
    CHECK_MESSAGE(output.find(line, first + 1) != std::string::npos, output);
  }
}

TEST_CASE("two jobs at one address are found out") {
  const std::string variables =
      "PURLIN_JOB_ID=twice-" + std::to_string(::getpid()) + " WORLD_SIZE=3 RANK=";
  const std::string program = " " PURLIN_RANK_PROGRAM " 20000";
  std::string script;
  for (const char* rank : {"0", "0", "1"}) script += variables + rank + program + " & ";
  const std::string output = output_of(script + "wait");
  CHECK_MESSAGE(contains(output, "rank 0 came twice"), output);
  CHECK_MESSAGE(contains(output, "PURLIN_JOB_ID"), output);
}

TEST_CASE("mpirun starts ranks that meet") {
  if (std::system("command -v mpirun >/dev/null 2>&1") != 0) {
    purlin::test::skip("no mpirun here");
    return;
  }
  const std::string output =
      output_of("mpirun --allow-run-as-root --oversubscribe -n 3 " PURLIN_RANK_PROGRAM " 30000");
  for (int rank = 0; rank < 3; ++rank)
    CHECK_MESSAGE(contains(output, "rank " + std::to_string(rank) + " met 0 1 2, no token"),
                  output);
}
