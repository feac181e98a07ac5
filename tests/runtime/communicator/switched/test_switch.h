// Communicators of host ranks that have a switch: the Atom that stands for one, and its counters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "purlin/purlin.h"

namespace purlin::test {

// A policy of small staging that finds the Atom and says `reduction`, a value or a map.
std::string switch_policy(const std::string& reduction);

// Loads and stores through a view since the process began.
struct SwitchUse {
  uint64_t loads = 0, stores = 0;
  bool operator==(const SwitchUse&) const = default;
};
SwitchUse switch_use();
void seed_switch(uint64_t seed);

// `count` elements whose combination does not depend on the order: integers of any bits, floating
// values that are small whole numbers.
std::vector<unsigned char> whole_elements(purlin_dtype dtype, uint64_t count, uint64_t seed);

// The four variables without a value, as they were before when it ends.
class NoOffSwitches {
 public:
  NoOffSwitches();
  ~NoOffSwitches();

 private:
  std::vector<std::string> saved_;
};
extern const std::vector<std::pair<const char*, const char*>> kOffSwitches;  // name, what turns it off

// What a file descriptor 2 receives while it lives.
class CaughtErrors {
 public:
  CaughtErrors();
  ~CaughtErrors();
  std::string text();  // everything so far

 private:
  int saved_ = -1, file_ = -1;
};

}  // namespace purlin::test
