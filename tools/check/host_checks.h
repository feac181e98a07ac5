// Checks of a host Atom's function table. Each runs in a process that has loaded the Atom; none
// trusts it.
#pragma once

#include "tools/check/requirement.h"
#include "tools/check/subject.h"

namespace purlin::tools::check {

// segment_checks.cc
Finding check_walk(const Subject& subject);
Finding check_copy(const Subject& subject);
Finding check_stop(const Subject& subject);
Finding check_limits(const Subject& subject);
Finding check_fuzz(const Subject& subject);
Finding check_threads(const Subject& subject);

// arithmetic_checks.cc
Finding check_reduce(const Subject& subject);
Finding check_scale(const Subject& subject);
Finding check_score(const Subject& subject);
Finding check_environment(const Subject& subject);

// packet_checks.cc
Finding check_packets(const Subject& subject);
Finding check_order(const Subject& subject);

}  // namespace purlin::tools::check
