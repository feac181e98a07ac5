// The numbered requirements on an Atom. docs/atom-authoring.md explains each; a test compares the
// two.
#pragma once

#include <span>
#include <string>

namespace purlin::tools::check {

// kNotChecked: this machine cannot try it, or it was not asked for. kNotApplicable: it says nothing
// of such an Atom.
enum class State { kPassed, kFailed, kNotChecked, kNotApplicable };

// What was found of one requirement.
struct Finding {
  State state = State::kPassed;
  std::string text;    // what was tried and found when it failed, why when it was not tried
  uint64_t cases = 0;  // tried
};
Finding passed(uint64_t cases);
Finding failed(std::string text, uint64_t cases = 0);
Finding not_checked(std::string why);
Finding not_applicable(std::string why);

// Numbers are the text of errors and of the documentation; they never change their meaning.
enum Number : int {
  kFile = 1,
  kExports,
  kVersions,
  kLoads,
  kDescriptor,
  kQuiet,
  kProbe,
  kCapabilities,
  kImages,
  kLinks,
  kWalk,
  kCopy,
  kStop,
  kReduce,
  kScale,
  kScore,
  kEnvironment,
  kPackets,
  kOrder,
  kLimits,
  kThreads,
  kFuzz,
  kCollectives,
  kAbort,
  kCount = kAbort
};

struct Requirement {
  Number number;
  const char* name;
  const char* demands;  // one line
};
std::span<const Requirement> requirements();

// The requirement that a rule of the loader (docs/plugins.md) belongs to; 0 for one that says
// nothing of the plugin itself.
int requirement_of_rule(const std::string& rule);

}  // namespace purlin::tools::check
