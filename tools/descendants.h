// Processes that ranks leave behind.
#pragma once

#include <sys/types.h>

#include <vector>

namespace purlin::tools {

// From now on, whatever a child of this process leaves behind becomes a child of this process, also
// if it went into a session of its own.
void adopt_descendants();

// The children that this process has at the moment, ended ones that were not waited for included.
std::vector<pid_t> children();

}  // namespace purlin::tools
