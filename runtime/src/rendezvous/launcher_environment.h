// What the launcher of this process says about its rank.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "rendezvous/unique_id.h"
#include "status/status.h"

namespace purlin {

struct LauncherEnvironment {
  std::string source;  // for messages: "purlin run (PURLIN_RANK, PURLIN_NRANKS)"
  int rank = 0;
  int nranks = 1;
  int local_rank = 0;  // among the ranks of this machine; the rank itself when not said
  int local_size = 0;  // ranks on this machine; 0 when not said
  std::string job;     // tells jobs of one user apart; empty when the launcher names none
  std::optional<UniqueId> unique_id;  // of purlin run
};

// Value of an environment variable, or nothing. Tests pass a map.
using EnvironmentLookup = std::function<std::optional<std::string>(const std::string&)>;
std::optional<std::string> process_environment(const std::string& name);

// Nothing when no launcher's variables are set. PURLIN_INVALID_USAGE when a set is incomplete
// (names what is there and what is missing), is no number, or contradicts itself;
// PURLIN_UNSUPPORTED when the job spans several machines.
Result<std::optional<LauncherEnvironment>> detect_launcher(
    const EnvironmentLookup& lookup = process_environment);

}  // namespace purlin
