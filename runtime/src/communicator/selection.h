// What a policy says about plugins, as plugin discovery wants it.
#pragma once

#include "plugin/selection.h"
#include "policy/policy.h"

namespace purlin {

// Relative paths start at the folder of the policy's file.
plugin::Selection plugin_selection(const policy::Policy& policy);

}  // namespace purlin
