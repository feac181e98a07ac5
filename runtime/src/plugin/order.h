// The total order among the Atoms that fit a device.
#pragma once

#include <string_view>

#include "plugin/registry.h"

namespace purlin::plugin {

// The first rule by which `left` and `right` differ, and which of them it puts first. Rules in
// order: named by the policy, closer architecture, declared priority, version, position in the
// search.
struct Precedence {
  bool left_first = true;
  std::string_view rule;
};
Precedence compare(const Candidate& left, const Candidate& right, const Selection& selection);

// One sentence: why `winner` goes before `loser` by `rule`.
std::string explain_precedence(const Candidate& winner, const Candidate& loser,
                               std::string_view rule);

}  // namespace purlin::plugin
