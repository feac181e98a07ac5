// `purlin perf`.
#pragma once

#include <CLI/CLI.hpp>

namespace purlin::tools {

void add_perf_command(CLI::App& app);

}  // namespace purlin::tools
