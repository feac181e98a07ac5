// Whether the switch serves a communicator's calls, and through which Atom.
#pragma once

#include <string>
#include <vector>

#include "plugin/choice.h"
#include "policy/choose.h"

namespace purlin {

// What one rank finds, or what all agreed on.
struct SwitchSide {
  plugin::BoundAtom atom;  // its descriptor is null unless `refusal` is empty
  std::string refusal;     // why the switch serves no call; empty: it does

  bool serves() const { return refusal.empty(); }
  // Why the switch cannot carry out this call; empty: it can. `op` matters to reductions alone.
  std::string refusal_of(purlin_collective collective, int dtype, int op) const;
  // For a policy::ChoiceTable: `refusal` for every collective.
  std::vector<std::string> for_table() const;
  // The Atom gives way to the reason.
  void refuse(std::string why);
};

// Whether any call without wishes of its own goes by the switch if that can be had. The same on all
// ranks whose policies agree on the wire.
bool asks_for_switch(const policy::Policy& policy, int nranks);

// Asks, in this order: does the policy want it, does the environment forbid it, are there ranks to
// join, is there an Atom that can. Takes no memory and makes no driver call. Thread-safe.
SwitchSide find_switch(const policy::Policy& policy, const plugin::Catalogue& catalogue, int nranks);

// One line for the log when calls fall back from the switch that `policy` prefers; empty when none does.
std::string fallback_line(const policy::ChoiceTable& choices, const std::string& communicator);

}  // namespace purlin
