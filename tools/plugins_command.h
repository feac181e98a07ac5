// `purlin plugins`.
#pragma once

#include <CLI/CLI.hpp>

namespace purlin::tools {

void add_plugins_command(CLI::App& app);

}  // namespace purlin::tools
