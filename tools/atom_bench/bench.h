// Bandwidth of one Atom against CTAs, stages and stage bytes.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/atom_bench/options.h"

namespace purlin::tools {

// Measures every combination and gives each line of the table to `print` as it is known. Results
// are compared with the input (copies) or the serial reference (reductions) once for each program,
// over poison. The JSON document holds what docs/perf.md lists. An error says what could not be
// done; a wrong result is one.
Outcome<nlohmann::json> bench_atom(const AtomBenchOptions& options,
                                   const std::function<void(const std::string&)>& print);

}  // namespace purlin::tools
