// Conformance of one plugin: every requirement that applies, each in a process of its own.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tools/check/requirement.h"

namespace purlin::tools::check {

struct CheckOptions {
  std::string path;  // absolute
  uint64_t seed = 1;
  bool full = false;          // products instead of samples
  double limit_seconds = 60;  // of one requirement
  std::set<int> only;         // requirements to check; empty: all
};

struct CheckReport {
  std::string path;
  nlohmann::json atom;  // the loader's report on it; null if it was refused
  uint64_t seed = 1;
  bool full = false;
  std::vector<Finding>
      findings;  // one a requirement, in order; of those that were not asked for too
  int count(State state) const;
};

// Never crashes or hangs with the plugin. To be called from a process with one thread.
CheckReport check_plugin(const CheckOptions& options);

nlohmann::json check_json(const CheckReport& report);
std::string check_text(const CheckReport& report);

}  // namespace purlin::tools::check
