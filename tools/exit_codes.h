// Exit statuses of the command.
#pragma once

namespace purlin::tools {

inline constexpr int kExitFailed = 1;  // it ran, and something is wrong
inline constexpr int kExitUsage = 2;   // the command line makes no sense

}  // namespace purlin::tools
