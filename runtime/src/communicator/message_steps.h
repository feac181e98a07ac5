// Inner groups of one group whose messages build on each other.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "communicator/messages.h"

namespace purlin {

// Where one rank's messages must be divided into steps, each carried out after the one before:
// before the inner group whose sends read what an inner group since the last division receives.
// `ends` are the numbers of messages at which inner groups ended, ascending. The result is those
// of them at which a new step begins, and `messages.size()` never.
std::vector<size_t> step_starts(std::span<const Message> messages, std::span<const size_t> ends);

}  // namespace purlin
