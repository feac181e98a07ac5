// Ranks, communicators and rows of one `purlin perf` run.
#pragma once

#include <functional>
#include <string>

#include "tools/perf_options.h"

namespace purlin::tools {

// Where a run's words go. Called from any rank's thread, one at a time.
struct PerfOutput {
  std::function<void(const std::string& line)> table;          // rank 0's lines, without newline
  std::function<void(int rank, const std::string&)> complain;  // wrong elements and errors
};

struct PerfResult {
  bool failed = false;  // a rank had an error; it was complained about
  uint64_t rows = 0, wrong = 0;
  std::string json;  // the document, on rank 0
};

// Runs every case with all ranks, or with this process as one of them.
PerfResult run_perf(const PerfOptions& options, const PerfOutput& output);

}  // namespace purlin::tools
