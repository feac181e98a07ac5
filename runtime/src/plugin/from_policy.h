// The selection that a policy states.
#pragma once

#include "plugin/selection.h"
#include "policy/policy.h"

namespace purlin::plugin {

// plugins.path, plugins.enable, plugins.disable, datapath.prefer and datapath.deny with their
// origins. Relative paths start at the folder of the policy's file, at the working folder for a
// policy that was given as text.
Selection selection_from(const policy::Policy& policy);

}  // namespace purlin::plugin
