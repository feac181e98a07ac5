// Processes of one communicator whose plugins or policies are not the same.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "level.h"
#include "runtime/communicator/processes/team_checks.h"

using namespace purlin_test;
using purlin::test::seed;

namespace {

void set(RankProcess& rank, const std::string& variable, const std::string& value) {
  REQUIRE(rank.ask("surroundings variable " + variable + " " + value) == "ok");
}

// A folder of policies that goes with its test.
class Folder {
 public:
  Folder() { REQUIRE(::mkdtemp(path_.data()) != nullptr); }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string write(const std::string& name, const std::string& body) const {
    std::ofstream(path_ + "/" + name) << "version: 1\n" << body;
    return path_ + "/" + name;
  }

 private:
  std::string path_ = std::filesystem::temp_directory_path() / "policies-XXXXXX";
};

// Every rank that is asked to create hears `parts`, and long before its limit.
void check_all_refused(Team& team, const std::vector<std::string>& parts) {
  const Stopwatch watch;
  check_all_say(team.ask_all("create main"), parts);
  CHECK(watch.seconds() < 20);
}

}  // namespace

TEST_CASE(
    "a plugin that one process of eight lacks: another Atom serves there, with the same bits") {
  constexpr int kLacking = 5;
  Team team(8, kLong);
  for (int r = 0; r < 8; ++r) {
    set(team[r], "PURLIN_DATAPATH", "testhost,auto");
    if (r != kLacking)
      set(team[r], "PURLIN_PLUGIN_PATH", PURLIN_BINARY_DIR "/tests/plugins/testhost");
  }
  check_all(team.ask_all("create main"), "ok");
  const auto atoms = team.ask_all("atom main");
  for (int r = 0; r < 8; ++r) {
    const std::string& said = atoms[static_cast<size_t>(r)];
    CHECK_MESSAGE(said.starts_with(r == kLacking ? "host: " : "testhost: "), said);
  }
  check_all(team.ask_all("reduce main 100000"), "ok");
  check_all(team.ask_all("sweep 100 " + std::to_string(seed() * 41)), "ok");
  purlin::test::count_cases(100);
}

TEST_CASE(
    "a plugin that one process of eight lacks and must have: all are refused, and told by whom") {
  constexpr int kLacking = 5;
  Team team(8, kLong);
  for (int r = 0; r < 8; ++r) {
    set(team[r], "PURLIN_DATAPATH", "testhost");
    if (r != kLacking)
      set(team[r], "PURLIN_PLUGIN_PATH", PURLIN_BINARY_DIR "/tests/plugins/testhost");
  }
  check_all_refused(team, {"rank 5", "\"testhost\"", "PURLIN_DATAPATH", "[name-unknown]"});
  set(team[kLacking], "PURLIN_PLUGIN_PATH", PURLIN_BINARY_DIR "/tests/plugins/testhost");
  check_all(team.ask_all("create main"), "ok");
}

TEST_CASE("a policy that one process lacks, or that says something else there: all hear what") {
  const Folder folder;
  const std::string common = folder.write("common.yaml", "crossover: 8KiB\n");
  Team team(4, kLong);
  for (int r = 0; r < 4; ++r) set(team[r], "PURLIN_POLICY", common);
  set(team[2], "PURLIN_POLICY", common + ".none");
  check_all_refused(team, {"rank 2", common + ".none", "cannot be read"});
  set(team[2], "PURLIN_POLICY", folder.write("misspelled.yaml", "crossover: 8KiB\nstagging: {}\n"));
  check_all_refused(team, {"rank 2", "misspelled.yaml:3:1", "did you mean \"staging\""});
  set(team[2], "PURLIN_POLICY", folder.write("other.yaml", "name: other\ncrossover: 2KiB\n"));
  check_all_refused(team, {"PURLIN_MISMATCH", "rank 2", "crossover", "8KiB", "2KiB",
                           "common.yaml:2:12", "other.yaml:3:12"});
  // What the wire does not depend on may differ.
  set(team[2], "PURLIN_POLICY", folder.write("alike.yaml", "name: alike\ncrossover: 8KiB\n"));
  check_all(team.ask_all("create main"), "ok");
  check_all(team.ask_all("reduce main 3000"), "ok");
}

TEST_CASE("a policy that is rewritten changes nothing for communicators that have read it") {
  const Folder folder;
  Team team(3, kLong);
  for (int r = 0; r < 3; ++r)
    set(team[r], "PURLIN_POLICY", folder.write("policy.yaml", "crossover: 8KiB\n"));
  check_all(team.ask_all("create before"), "ok");
  folder.write("policy.yaml", "crossover: 8K\n");
  for (const int count : {1000, 100'000})
    check_all(team.ask_all("reduce before " + std::to_string(count)), "ok");
  check_all_refused(team, {"policy.yaml:2:12", "did you mean \"8KiB\"?"});
  folder.write("policy.yaml", "crossover: 1KiB\n");
  check_all(team.ask_all("create after"), "ok");
  for (const int count : {1000, 100'000}) {
    check_all(team.ask_all("reduce before " + std::to_string(count)), "ok");
    check_all(team.ask_all("reduce after " + std::to_string(count)), "ok");
  }
}
