// What `purlin perf` was asked to do, checked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "purlin/purlin.h"
#include "tools/launched.h"
#include "tools/outcome.h"
#include "tools/shape.h"
#include "tools/shares.h"

namespace purlin::tools {

// As typed. Empty texts and negative numbers mean "not given".
struct PerfArguments {
  std::string collective;
  int ranks = -1;
  std::string begin, end;
  uint64_t factor = 2;
  std::string dtypes = "f32", ops, path = "auto", device = "auto", policy, json;
  std::string skew, counts_file, placement, versus, nccl = "libnccl.so.2";
  bool random_counts = false, in_place = false, check = false, progress = false, eager = false;
  bool behind = false;
  bool registered = false;
  int64_t iterations = -1, warmup = 5;
  uint64_t seed = 1, misalign = 0;
  int root = -1, alone = -1;
  double timeout_seconds = 30;
  unsigned ctas = 0;
};

enum class Versus { kNothing, kNccl, kNcclSymmetric };

struct PerfOptions {
  purlin_collective collective = PURLIN_ALL_REDUCE;
  int nranks = 4;
  bool as_processes = false;  // this process is one rank of a launched job …
  int rank = 0;               // … namely this one
  std::string launcher;       // its name, for the heading
  std::vector<uint64_t> sizes;
  std::vector<purlin_dtype> dtypes;
  std::vector<purlin_op> ops;  // one entry, unused, for copies
  purlin_path path = PURLIN_PATH_AUTO;
  purlin_device_kind device = PURLIN_DEVICE_AUTO;
  std::string policy, json;
  Versus versus = Versus::kNothing;  // measured too, in the same run
  std::string nccl;                  // its library
  Skew skew;
  Placement placement = Placement::kPacked;
  bool in_place = false, check = false, progress = false;
  bool behind = false;      // GPUs: each timed call stands behind an empty kernel
  bool eager = false;       // GPUs: time calls made one by one, not replays of graphs
  bool registered = false;  // buffers that peers may reach in place
  uint64_t iterations = 0;  // 0: as plan_calls says
  uint64_t warmup = 5, seed = 1, misalign = 0;
  int root = 0;
  int alone = -1;  // this rank runs by itself; -1: all run together
  unsigned timeout_ms = 30'000, ctas = 0;
};

// Errors are for the command line: which option, what was found, what is accepted.
Outcome<PerfOptions> check_arguments(const PerfArguments& given, const Environment& environment);

// Every case in the order of the table: by element type, operation, size.
std::vector<Case> cases_of(const PerfOptions& options);

}  // namespace purlin::tools
