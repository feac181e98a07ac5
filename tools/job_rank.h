// One rank of `purlin run` as a child process.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "tools/outcome.h"

namespace purlin::tools {

struct JobRank {
  pid_t pid = -1;          // also its process group; -1 once it has ended
  int out = -1, err = -1;  // read ends of its standard output and error; -1 once closed
};

struct RankSetup {
  const std::vector<std::string>& command;
  const std::string& unique_id_hex;
  int rank, nranks;
  int standard_input;           // becomes its standard input
  const sigset_t& signal_mask;  // of the command
};

// Starts the rank in a process group of its own, with PURLIN_UNIQUE_ID, PURLIN_RANK, PURLIN_NRANKS,
// RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE set, to be killed when this process dies. An
// error says what failed; `exit_status` then holds what a shell would return for it.
Outcome<JobRank> start_rank(const RankSetup& setup, int& exit_status);

}  // namespace purlin::tools
