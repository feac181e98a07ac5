#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "tools/line_output.h"
#include "tools/run/captured_run.h"

namespace {

using namespace purlin_test;
using Lines = std::vector<std::string>;

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "purlin-run-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A shell command as the ranks' program.
Captured shell(int nranks, const std::string& script, Lines options = {}) {
  Lines arguments{"-n", std::to_string(nranks)};
  arguments.insert(arguments.end(), options.begin(), options.end());
  for (const char* word : {"--", "sh", "-c"}) arguments.push_back(word);
  arguments.push_back(script);
  return purlin_run(arguments);
}

}  // namespace

TEST_CASE("lines are whole and labelled however the bytes come") {
  purlin::tools::LineOutput lines("[3] ");
  CHECK(lines.feed("") == "");
  CHECK(lines.feed("a") == "");
  CHECK(lines.feed("b\n\nc\nd") == "[3] ab\n[3] \n[3] c\n");
  CHECK(lines.finish() == "[3] d\n");
  CHECK(lines.finish() == "");
  CHECK(lines.feed(std::string(70'000, 'x')).size() == 70'005);
  purlin::tools::LineOutput bare("");
  CHECK(bare.feed("a\n") == "a\n");
}

TEST_CASE("each rank finds its place and one common id in its environment") {
  const auto run = shell(3,
                         "echo $PURLIN_RANK $PURLIN_NRANKS $RANK $WORLD_SIZE $LOCAL_RANK "
                         "$LOCAL_WORLD_SIZE; echo $PURLIN_UNIQUE_ID >&2");
  CHECK(run.status == 0);
  CHECK(sorted_lines(run.out) == Lines{"[0] 0 3 0 3 0 3", "[1] 1 3 1 3 1 3", "[2] 2 3 2 3 2 3"});
  std::set<std::string> ids;
  for (const auto& line : sorted_lines(run.err)) ids.insert(line.substr(4));
  REQUIRE(ids.size() == 1);
  CHECK(ids.begin()->size() == 256);
}

TEST_CASE("ranks meet by the id in their environment") {
  const auto run = purlin_run({"-n", "4", "--", PURLIN_RANK_PROGRAM, "30000"});
  CHECK_MESSAGE(run.status == 0, run.err);
  CHECK(sorted_lines(run.out) ==
        Lines{"[0] rank 0 met 0 1 2 3, token", "[1] rank 1 met 0 1 2 3, token",
              "[2] rank 2 met 0 1 2 3, token", "[3] rank 3 met 0 1 2 3, token"});
}

TEST_CASE("labels can be left out") {
  CHECK(shell(1, "echo a; printf b", {"--no-label"}).out == "a\nb\n");
}

TEST_CASE("the command's words reach it untouched") {
  const Lines words{"-n", "--timeout", "[a,b]", "", "perf", "--", "{}", "a b"};
  Lines arguments{"-n", "1", "--", "printf", "<%s>"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  CHECK(purlin_run(arguments).out == "[0] <-n><--timeout><[a,b]><><perf><--><{}><a b>\n");
}

TEST_CASE("lines of many ranks do not tear") {
  const auto run = shell(4,
                         "i=0; while [ $i -lt 300 ]; do echo \"$RANK$RANK$RANK$RANK$RANK$RANK\"; "
                         "i=$((i+1)); done");
  CHECK(run.status == 0);
  const auto lines = sorted_lines(run.out);
  REQUIRE(lines.size() == 1200);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string rank = std::to_string(i / 300);
    CHECK(lines[i] == "[" + rank + "] " + rank + rank + rank + rank + rank + rank);
  }
}

TEST_CASE("standard input goes to rank 0, the others have none") {
  const auto run =
      purlin_run({"-n", "2", "--", "sh", "-c", "read line; echo \"<$line>\""}, "hello\n");
  CHECK(sorted_lines(run.out) == Lines{"[0] <hello>", "[1] <>"});
}

TEST_CASE("the first failure ends the job, and its status and reason are given") {
  const auto run = shell(3, "if [ $RANK = 1 ]; then exit 7; fi; exec sleep 50.123");
  CHECK(run.status == 7);
  CHECK(contains(run.err, "rank 1 exited with status 7; ending the other 2 ranks"));
  CHECK(processes_with("50.123") == 0);

  const auto killed = shell(2, "if [ $RANK = 0 ]; then kill -SEGV $$; fi; exec sleep 50.124");
  CHECK(killed.status == 128 + SIGSEGV);
  CHECK(contains(killed.err, "rank 0 was killed by SIGSEGV"));
}

TEST_CASE("a rank that ignores SIGTERM is killed after the grace time, stopped ones too") {
  const ScratchFolder scratch;
  const std::string ready = scratch.path() + "/ready";
  const auto deaf = shell(2,
                          "if [ $RANK = 1 ]; then while [ ! -e " + ready +
                              " ]; do sleep 0.01; done; exit 3; fi; trap '' TERM; touch " + ready +
                              "; while :; do sleep 50.2; done",
                          {"--grace", "0.3"});
  CHECK(deaf.status == 3);
  CHECK(contains(deaf.err, "did not end within 0.3 s: killing"));
  const auto stopped = shell(2, "if [ $RANK = 0 ]; then kill -STOP $$; fi; exit 4");
  CHECK(stopped.status == 4);
  CHECK(processes_with("50.2") == 0);
}

TEST_CASE("nothing that ranks have started outlives the job, also in sessions of their own") {
  const auto run =
      shell(2, "sleep 51.5 & setsid sleep 51.5 & setsid sh -c 'sleep 51.5 & wait' & exit 0",
            {"--grace", "30"});
  CHECK(run.status == 0);
  CHECK(processes_with("51.5") == 0);
}

TEST_CASE("the job's own limit") {
  const auto run = shell(2, "exec sleep 52.5", {"--timeout", "0.3"});
  CHECK(run.status == 124);
  CHECK(contains(run.err, "did not end within 0.3 s"));
  CHECK(processes_with("52.5") == 0);
}

TEST_CASE("signals are passed on to every rank") {
  for (const int number : {SIGUSR1, SIGUSR2, SIGHUP, SIGINT, SIGTERM, SIGQUIT}) {
    CAPTURE(number);
    CapturedRun run({"-n", "2", "--", "sh", "-c",
                     "trap 'echo got; exit 0' USR1 USR2 HUP INT TERM QUIT; echo ready; "
                     "while :; do sleep 0.02; done"});
    run.wait_for_output("[0] ready");
    run.wait_for_output("[1] ready");
    run.signal(number);
    const auto ended = run.finish();
    CHECK(ended.status == 0);
    CHECK(contains(ended.out, "[0] got"));
    CHECK(contains(ended.out, "[1] got"));
  }
}

TEST_CASE("a signal that asks to end is final: unheeded ones are followed by SIGKILL") {
  CapturedRun run({"-n", "1", "--grace", "0.2", "--", "sh", "-c",
                   "trap '' INT; echo ready; while :; do sleep 53.5; done"});
  run.wait_for_output("ready");
  run.signal(SIGINT);
  const auto ended = run.finish();
  CHECK(ended.status == 128 + SIGKILL);
  CHECK(contains(ended.err, "SIGINT passed on"));
  CHECK(processes_with("53.5") == 0);
}

TEST_CASE("ranks die with a launcher that is killed") {
  std::string rank_pid;
  {
    CapturedRun run({"-n", "1", "--", "sh", "-c", "echo ready; exec sleep 54.5"});
    run.wait_for_output("ready");
    run.signal(SIGKILL);
    CHECK(run.finish().status == 1000 + SIGKILL);  // the end of output is the end of the rank
  }
  while (processes_with("54.5") != 0) ::usleep(1000);  // ctest ends this test if it never happens
}

TEST_CASE("what cannot be run and what makes no sense") {
  const auto missing = purlin_run({"-n", "2", "--", "/no/such/program"});
  CHECK(missing.status == 127);
  CHECK(contains(missing.err, "'/no/such/program'"));
  CHECK(purlin_run({"-n", "2", "--", "/"}).status == 126);
  CHECK(purlin_run({"--", "true"}).status == 2);
  CHECK(purlin_run({"-n", "2"}).status == 2);
  CHECK(purlin_run({"-n", "2", "true"}).status == 2);
  CHECK(purlin_run({"-n", "0", "--", "true"}).status == 2);
  CHECK(purlin_run({"-n", "65", "--", "true"}).status == 2);
  const auto help = purlin_run({"--help"});
  CHECK(help.status == 0);
  CHECK(contains(help.out, "PURLIN_UNIQUE_ID"));
}
