// purlin perf atom.
#pragma once

#include <CLI/CLI.hpp>

namespace purlin::tools {

// Adds `atom` below `perf`. It throws CLI::RuntimeError with the exit status where that is not 0.
void add_perf_atom_command(CLI::App& perf);

}  // namespace purlin::tools
