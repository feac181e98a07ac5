// Processes that wait for one another in a registration or a split, and one that is aborted or
// killed instead of coming.
#include "runtime/communicator/open_sockets.h"
#include "runtime/communicator/processes/team_checks.h"

using namespace purlin_test;
using purlin::test::open_sockets;
using purlin::test::wait_for_socket;

namespace {

const std::string kExchanges[] = {"register main 4096", "split main"};

// Ranks 1 and 2 of `team` wait in `exchange`.
void send_others(Team& team, const std::string& exchange) {
  for (const int r : {1, 2}) {
    const int before = open_sockets(team[r].pid());
    team[r].send(exchange);
    wait_for_socket(team[r].pid(), before);
  }
}

}  // namespace

TEST_CASE("an abort ends the registration or the split in which other processes wait") {
  for (const std::string& exchange : kExchanges) {
    CAPTURE(exchange);
    Team team(3, kLong);
    check_all(team.ask_all("create main"), "ok");
    check_all(team.ask_all(exchange), "ok");
    const Stopwatch watch;
    send_others(team, exchange);
    CHECK(team[0].ask("abort main") == "ok");
    for (const int r : {1, 2})
      check_says(team[r].receive(), {"PURLIN_ABORTED", "rank 0", "called purlin_comm_abort"});
    check_says(team[0].ask(exchange), {"PURLIN_ABORTED", "rank 0 (this one)"});
    check_all_say(team.ask_all(exchange), {"PURLIN_BROKEN", "rank 0"});
    CHECK(watch.seconds() < 20);
    check_all(team.ask_all("destroy main"), "ok");
  }
}

TEST_CASE("a rank that dies instead of coming to a registration or a split is named at once") {
  for (const std::string& exchange : kExchanges) {
    CAPTURE(exchange);
    Team team(3, kLong);
    check_all(team.ask_all("create main"), "ok");
    const Stopwatch watch;
    send_others(team, exchange);
    team.kill(0);
    for (const int r : {1, 2}) check_says(team[r].receive(), {"PURLIN_PEER_LOST", "rank 0"});
    CHECK(watch.seconds() < 20);
  }
}

TEST_CASE("a rank that does not come to a registration or a split is named at the limit") {
  for (const std::string& exchange : kExchanges) {
    CAPTURE(exchange);
    Team team(3, 1500);
    check_all(team.ask_all("create main"), "ok");
    send_others(team, exchange);
    for (const int r : {1, 2})
      check_says(team[r].receive(), {"PURLIN_TIMEOUT", "rank 0 of 3 did not come to exchange "});
  }
}
