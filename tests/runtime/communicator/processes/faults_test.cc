// A rank that is killed or stopped, through the public API: what the others hear, and what still
// works.
#include <signal.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "level.h"
#include "runtime/communicator/processes/team_checks.h"

using namespace purlin_test;
using purlin::test::is_full;
using purlin::test::seed;

namespace {

// Abstract sockets of later exchanges have random names.
int sockets_of_exchanges() {
  std::ifstream table("/proc/net/unix");
  int count = 0;
  for (std::string line; std::getline(table, line);)
    if (contains(line, "@purlin.1.c.")) ++count;
  return count;
}

bool named_after_purlin(const char* folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (contains(entry.path().filename(), "purlin")) return true;
  return false;
}

// Ranks of its tests would make temporary files, if they made any, in a folder of their own.
class Leftovers {
 public:
  Leftovers() {
    REQUIRE(::mkdtemp(folder_.data()) != nullptr);
    ::setenv("TMPDIR", folder_.c_str(), 1);
  }
  ~Leftovers() {
    ::unsetenv("TMPDIR");
    std::filesystem::remove_all(folder_);
  }
  void check_nothing_left(const Team& team) const {
    CHECK(sockets_named(team.name()) == 0);
    CHECK(!named_after_purlin("/dev/shm"));
    CHECK(std::filesystem::is_empty(folder_));
  }

 private:
  std::string folder_ = std::filesystem::temp_directory_path() / "ranks-XXXXXX";
};

void stop(RankProcess& rank) {
  rank.signal(SIGSTOP);
  int status = 0;
  REQUIRE(::waitpid(rank.pid(), &status, WUNTRACED) == rank.pid());
  REQUIRE(WIFSTOPPED(status));
}

std::string rank_text(int rank) { return "rank " + std::to_string(rank); }

// The survivors of `team` form a communicator of their own and use it.
void check_survivors(Team& team, int nranks, int victim) {
  purlin_unique_id id;
  REQUIRE(purlin_get_unique_id(&id) == PURLIN_OK);
  const std::string hex = purlin::to_hex(id);
  const auto for_survivors = [&](const auto& body) {
    int place = 0;
    for (int r = 0; r < nranks; ++r)
      if (r != victim) body(team[r], place++);
  };
  for_survivors([&](RankProcess& rank, int place) {
    rank.send("create anew " + std::to_string(place) + " " + std::to_string(nranks - 1) + " " +
              hex);
  });
  for_survivors([&](RankProcess& rank, int) { CHECK(rank.receive() == "ok"); });
  for_survivors([&](RankProcess& rank, int) { rank.send("reduce anew 5000"); });
  for_survivors([&](RankProcess& rank, int) { CHECK(rank.receive() == "ok"); });
}

}  // namespace

TEST_CASE_FIXTURE(
    Leftovers,
    "a rank killed while a communicator is created: the others hear who, and create another") {
  for (const Moment moment : {Moment::kSaidHello, Moment::kAccepted, Moment::kWelcomed}) {
    Team team(3, kLong, {0});
    team[0].send("create main");
    wait_for_sockets(team.name(), 1);
    team.start(1);
    team[1].send("create main");
    const Stopwatch watch;
    die_while_meeting(team.options(2), moment);
    for (const int r : {0, 1}) check_says(team[r].receive(), {"PURLIN_PEER_LOST", "rank 2"});
    CHECK(watch.seconds() < 20);
    check_survivors(team, 3, 2);
    check_nothing_left(team);
  }
}

TEST_CASE_FIXTURE(
    Leftovers,
    "a rank killed at any moment of creation ends it, or the first call, on all others") {
  std::mt19937_64 random(seed() * 31 + 11);
  const int trials = is_full() ? 100 : 6;
  for (int trial = 0; trial < trials; ++trial) {
    const int victim = trial % 3;
    Team team(3, 1500);
    (void)team.ask_all("pid");
    team.send_all("create main");
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));  // any moment will do
    team.kill(victim);
    const Stopwatch watch;
    for (int r = 0; r < 3; ++r) {
      if (r == victim) continue;
      std::string answer = team[r].receive();
      if (answer == "ok") answer = team[r].ask("reduce main 100");
      // Killed before it was known to anybody, it is one of those that do not come.
      if (contains(answer, "PURLIN_TIMEOUT: "))
        check_says(answer, {" of 3 did not come ", std::to_string(victim)});
      else
        check_says(answer, {"PURLIN_PEER_LOST: ", rank_text(victim)});
    }
    CHECK(watch.seconds() < 20);
    check_nothing_left(team);
  }
  purlin::test::count_cases(static_cast<uint64_t>(trials));
}

TEST_CASE_FIXTURE(Leftovers,
                  "a rank stopped before it comes is named by all others when the limit is over") {
  Team team(3, 1200);
  (void)team.ask_all("pid");
  stop(team[1]);
  for (const int r : {0, 2}) team[r].send("create main");
  for (const int r : {0, 2})
    check_says(team[r].receive(), {"PURLIN_TIMEOUT", "rank 1 of 3", "did not come"});
  team[1].signal(SIGCONT);
}

TEST_CASE_FIXTURE(
    Leftovers, "a rank killed before its first call: the others' call ends at once, and names it") {
  for (const int victim : {0, 1, 2, 3}) {
    Team team(4, kLong);
    check_all(team.ask_all("create main"), "ok");
    for (int r = 0; r < 4; ++r)
      if (r != victim) team[r].send("reduce main 1000");
    const Stopwatch watch;
    team.kill(victim);
    check_all_say(team.receive_all(), {"PURLIN_PEER_LOST", rank_text(victim)});
    check_all_say(team.ask_all("reduce main 1000"), {"PURLIN_BROKEN", rank_text(victim)});
    CHECK(watch.seconds() < 20);
    check_survivors(team, 4, victim);
    check_all(team.ask_all("destroy main"), "ok");
    check_nothing_left(team);
  }
}

TEST_CASE_FIXTURE(Leftovers, "a rank killed in mid call: the others name it and where they stood") {
  std::mt19937_64 random(seed() * 31 + 12);
  const int trials = is_full() ? 100 : 10;
  int stood = 0, heard = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const int victim = static_cast<int>(random() % 3);
    Team team(3, kLong);
    check_all(team.ask_all("create main"), "ok");
    check_all(team.ask_all("create other"), "ok");
    // Large calls take the throughput protocol, small ones packets.
    const std::string count = trial % 2 == 0 ? "4000000" : "100";
    check_all(team.ask_all("reduce main " + count), "ok");
    team.send_all("repeat main " + count);
    std::this_thread::sleep_for(
        std::chrono::microseconds(random() % 20'000));  // any moment will do
    team.kill(victim);
    const Stopwatch watch;
    for (const std::string& answer : team.receive_all()) {
      if (answer.empty()) continue;
      check_says(answer, {"PURLIN_PEER_LOST", rank_text(victim), "communicator main"});
      ++heard;
      if (!contains(answer, " waited for ")) continue;
      ++stood;
      check_says(answer, {"in all_reduce of " + count + " u32, sum", "epoch ", "chunk "});
    }
    CHECK(watch.seconds() < 20);
    check_survivors(team, 3, victim);
    check_nothing_left(team);
  }
  // Some hear it between two calls, but not all of them ever.
  CHECK_MESSAGE(stood * 4 > heard, stood << " of " << heard << " answers say where the rank stood");
  purlin::test::count_cases(static_cast<uint64_t>(trials));
}

TEST_CASE_FIXTURE(
    Leftovers,
    "a rank stopped in mid call or before its first: named with call and position at the limit") {
  for (const bool first : {true, false}) {
    Team team(3, 1500);
    check_all(team.ask_all("create main"), "ok");
    if (first) {
      stop(team[1]);
      for (const int r : {0, 2}) team[r].send("reduce main 1000");
    } else {
      team.send_all("repeat main 100000");
      stop(team[1]);
    }
    for (const int r : {0, 2})
      check_says(team[r].receive(),
                 {"PURLIN_TIMEOUT", "rank 1", "in all_reduce of ", "epoch ", "chunk "});
    // The one that goes on hears why, and none of them hangs.
    team[1].signal(SIGCONT);
    const std::string late = first ? team[1].ask("reduce main 1000") : team[1].receive();
    check_says(late, {"PURLIN_TIMEOUT", "rank 1"});
    check_all(team.ask_all("destroy main"), "ok");
    check_all(team.ask_all("create main"), "ok");
    check_all(team.ask_all("reduce main 1000"), "ok");
  }
}

TEST_CASE_FIXTURE(Leftovers,
                  "a rank that is stopped and goes on within the limit raises no false alarm") {
  Team team(3, kLong);
  check_all(team.ask_all("create main"), "ok");
  for (int i = 0; i < 3; ++i) {
    for (const int r : {0, 2}) team[r].send("reduce main 300000");
    stop(team[1]);
    team[1].send("reduce main 300000");
    team[1].signal(SIGCONT);
    check_all(team.receive_all(), "ok");
  }
  check_all(team.ask_all("error main"), "ok");
}

TEST_CASE_FIXTURE(Leftovers,
                  "one communicator breaks, the other of the same processes stays usable") {
  Team team(3, 1000);
  check_all(team.ask_all("create first"), "ok");
  check_all(team.ask_all("create second"), "ok");
  for (const int r : {0, 1}) team[r].send("reduce first 1000");
  for (const int r : {0, 1})
    check_says(team[r].receive(), {"PURLIN_TIMEOUT", "rank 2", "communicator first"});
  check_all(team.ask_all("reduce second 70000"), "ok");
  CHECK(team[1].ask("abort second") == "ok");
  check_all_say(team.ask_all("reduce second 10"),
                {"PURLIN_ABORTED", "rank 1", "communicator second"});
  check_all(team.ask_all("create third"), "ok");
  check_all(team.ask_all("reduce third 70000"), "ok");
}

TEST_CASE_FIXTURE(
    Leftovers,
    "destroy ends at once, whether peers are there, stopped, killed or gone without a word") {
  for (const std::string how : {"there", "stopped", "killed", "exited"}) {
    CAPTURE(how);
    Team team(3, kLong);
    check_all(team.ask_all("create main"), "ok");
    check_all(team.ask_all("reduce main 100000"), "ok");
    if (how == "stopped") stop(team[1]);
    if (how == "killed") team.kill(1);
    if (how == "exited") team[1].send("exit");
    const Stopwatch watch;
    for (const int r : {0, 2}) CHECK(team[r].ask("destroy main") == "ok");
    CHECK(watch.seconds() < 20);
    if (how == "stopped") team[1].signal(SIGCONT);
    if (how == "there" || how == "stopped") CHECK(team[1].ask("destroy main") == "ok");
    check_nothing_left(team);
  }
}

TEST_CASE_FIXTURE(Leftovers, "a rank killed while it destroys does not disturb the others") {
  const int trials = is_full() ? 50 : 6;
  for (int trial = 0; trial < trials; ++trial) {
    Team team(3, kLong);
    check_all(team.ask_all("create main"), "ok");
    check_all(team.ask_all("reduce main 1000"), "ok");
    team.send_all("destroy main");
    team.kill(trial % 3);
    for (const std::string& answer : team.receive_all())
      if (!answer.empty()) CHECK(answer == "ok");
    check_survivors(team, 3, trial % 3);
    check_nothing_left(team);
  }
  purlin::test::count_cases(static_cast<uint64_t>(trials));
}

TEST_CASE_FIXTURE(Leftovers, "all ranks killed at once leave nothing behind") {
  const int before = sockets_of_exchanges();
  Team team(4, kLong);
  check_all(team.ask_all("create main"), "ok");
  team.send_all("repeat main 200000");
  for (int r = 0; r < 4; ++r) team[r].signal(SIGKILL);
  for (int r = 0; r < 4; ++r) team.kill(r);
  check_nothing_left(team);
  CHECK(sockets_of_exchanges() <= before);
}
