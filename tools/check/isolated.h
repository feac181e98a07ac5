// Work in a process of its own: a crash or a hang is a result.
#pragma once

#include <functional>
#include <string>

namespace purlin::tools::check {

struct IsolatedRun {
  enum class End { kReturned, kExited, kKilled, kTimedOut, kNotStarted };
  End end = End::kReturned;
  std::string answer;   // what the work returned (kReturned)
  std::string printed;  // what the process wrote to standard output and error, the first 4 KiB
  std::string how;      // of any other end: "killed by SIGSEGV", "did not end within 60 s" …
};

// Forks, runs `work` in the child and returns what it returned. To be called from a process with
// one thread. The child and all it started in its process group are gone afterwards.
IsolatedRun run_isolated(const std::function<std::string()>& work, double limit_seconds);

}  // namespace purlin::tools::check
