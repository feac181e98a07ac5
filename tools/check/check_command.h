// `purlin check`: does a plugin keep what an Atom promises?
#pragma once

#include <CLI/CLI.hpp>

namespace purlin::tools {

void add_check_command(CLI::App& app);

}  // namespace purlin::tools
