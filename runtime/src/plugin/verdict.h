// A verdict: what was decided about one folder, file or candidate, by which rule, and what to do.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace purlin::plugin {

// `rule` is one of the ids of rules(): stable, lower case, listed in docs/plugins.md. Scripts may
// compare it; `reason` and `remedy` are for people and may change.
struct Verdict {
  bool accepted = false;
  std::string rule;
  std::string reason;  // what was found, with the numbers on both sides where two disagree
  std::string remedy;  // what to do about it; empty when accepted
};

inline Verdict accept(std::string_view rule, std::string reason = {}) {
  return {true, std::string(rule), std::move(reason), {}};
}
inline Verdict refuse(std::string_view rule, std::string reason, std::string remedy) {
  return {false, std::string(rule), std::move(reason), std::move(remedy)};
}

// One rule: its id and what it demands, in one line.
struct Rule {
  std::string_view id;
  std::string_view demand;
};

// Every rule that a Verdict can carry, in the order in which they are applied.
const std::vector<Rule>& rules();

}  // namespace purlin::plugin
