// Messages and disagreements of one rank of several processes; every function answers "ok" or what
// is wrong.
#pragma once

#include "runtime/communicator/processes/rank/long_runs.h"

namespace purlin::test {

// ROUNDS SEED: random exchanges of messages, a collective after each.
std::string run_messages(const Place& place, std::istringstream& arguments);
// WHAT: a call in which the last rank differs in WHAT: count, dtype, op, root, collective, message;
// or nothing, where it waits for a message of rank 0 and the others for a barrier.
std::string run_difference(const Place& place, std::istringstream& arguments);

}  // namespace purlin::test
