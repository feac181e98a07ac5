// Processes that make many communicators and many calls.
#include "level.h"
#include "runtime/communicator/processes/team_checks.h"

using namespace purlin_test;
using purlin::test::is_full;
using purlin::test::seed;

namespace {
std::string with_seed(const std::string& command, int number, int index) {
  return command + " " + std::to_string(number) + " " +
         std::to_string(seed() * 1000 + static_cast<uint64_t>(index));
}
}  // namespace

TEST_CASE("random collectives between processes are exact") {
  for (const int n : {1, 2, 3, 5, 8}) {
    const int cases = is_full() ? 5000 : 100;
    Team team(n, 30'000);
    for (int i = 0; i < cases; i += 100) check_all(team.ask_all(with_seed("sweep", 100, i)), "ok");
    purlin::test::count_cases(static_cast<uint64_t>(cases));
  }
}

// An iteration's number is in every value: one stale word anywhere is a wrong result.
TEST_CASE("calls of all protocols in a row, ranks early and late, communicators new and old") {
  const int calls = is_full() ? 1'000'000 : 25'000;
  Team team(2, 30'000);
  for (int i = 0; i < calls; i += 5000) check_all(team.ask_all(with_seed("soak", 5000, i)), "ok");
  purlin::test::count_cases(static_cast<uint64_t>(calls));
}

TEST_CASE("the same with more ranks than cores") {
  const int calls = is_full() ? 50'000 : 2000;
  Team team(8, 30'000);
  for (int i = 0; i < calls; i += 500) check_all(team.ask_all(with_seed("soak", 500, i)), "ok");
  purlin::test::count_cases(static_cast<uint64_t>(calls));
}

TEST_CASE("communicators come and go without leaving a descriptor or a mapping") {
  for (const int n : {2, 8}) {
    const int cycles = (is_full() ? 1000 : 100) / n;
    Team team(n, 30'000);
    check_all(team.ask_all(with_seed("cycles", cycles, n)), "ok");
  }
}

TEST_CASE("sixty communicators at once between processes of 64 descriptors") {
  Team team(3, 30'000);
  check_all(team.ask_all("surroundings descriptors 64"), "ok");
  for (int i = 0; i < (is_full() ? 50 : 1); ++i) check_all(team.ask_all("burst 60"), "ok");
}
