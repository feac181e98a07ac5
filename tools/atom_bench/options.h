// What `purlin perf atom` measures: one Atom over plain memory of one GPU or between two.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "purlin/purlin.h"
#include "tools/outcome.h"

namespace purlin::tools {

// The command line as given.
struct AtomBenchArguments {
  std::string op = "copy", atoms, direction = "pull", ctas, stages, stage_bytes, chunk = "128KiB";
  std::string bytes = "256MiB", dtype = "f32", device_op = "sum", json, policy;
  int sources = 2, device = 0, peer = -1;
  unsigned iterations = 10;
  uint64_t seed = 1;
  bool drain = false;
};

struct AtomBenchOptions {
  bool reduces = false, push = false, drain = false;
  std::vector<std::string> atoms;  // empty: what the policy chooses
  std::vector<uint32_t> ctas;
  std::vector<uint32_t> stages, stage_bytes;  // 0: the Atom's own
  uint64_t bytes = 0, chunk_bytes = 0;        // of the output; of a segment
  purlin_dtype dtype = PURLIN_F32;
  purlin_op op = PURLIN_SUM;
  uint32_t sources = 1;
  int device = 0, peer = -1;  // ordinals; -1: everything lies on one device
  unsigned iterations = 10;
  uint64_t seed = 1;
  std::string policy, json;
};

// Errors are for the command line: which option, what was found, what is accepted.
Outcome<AtomBenchOptions> check_arguments(const AtomBenchArguments& given);

}  // namespace purlin::tools
