// `purlin run`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace purlin::tools {

// For `purlin run … -- COMMAND …`: cuts the command off (argc then ends before the --) and returns
// it, untouched. Nothing for any other command line.
std::vector<std::string> take_command_to_run(int& argc, char** argv);

void add_run_command(CLI::App& app, std::vector<std::string> command_to_run);

}  // namespace purlin::tools
