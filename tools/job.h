// The ranks of one `purlin run`, from start to end.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace purlin::tools {

struct JobOptions {
  int nranks = 1;
  std::vector<std::string> command;       // program and arguments, at least one
  bool label = true;                      // "[rank] " before each line of output
  std::optional<double> timeout_seconds;  // of the whole job; nothing: none
  double grace_seconds = 10;              // from asking ranks to end (SIGTERM) to SIGKILL
};

// Starts the ranks, passes on their output (whole lines) and the signals INT, TERM, HUP, QUIT,
// USR1, USR2, TSTP and CONT, ends the job at the first failure, and returns when neither a rank nor
// anything it started is left. To be called from a process with one thread; uses that process's
// signal mask and waits for all its children.
//
// Returns 0 when all ranks ended with 0; the status of the first rank that failed (128 + number of
// the signal that killed it); 124 after the timeout; 126 or 127 when the command cannot be started
// or is not there; 1 when the job could not be set up.
int run_job(const JobOptions& options);

}  // namespace purlin::tools
