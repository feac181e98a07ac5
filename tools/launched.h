// Whether a launcher (purlin run, torchrun, mpirun, srun) started this process as one of several
// ranks. The library reads the same variables when it joins; this says how many there will be.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tools/outcome.h"

namespace purlin::tools {

// Value of a variable, or nothing if unset or empty.
using Environment = std::function<std::optional<std::string>(const char* name)>;
std::optional<std::string> process_environment(const char* name);

struct Launched {
  std::string launcher;
  int rank = 0, nranks = 1;
};

// Nothing if no launcher's variables are set; an error if they are incomplete or no numbers.
Outcome<std::optional<Launched>> find_launcher(const Environment& environment);

}  // namespace purlin::tools
