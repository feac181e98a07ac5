// `purlin explain`.
#pragma once

#include <CLI/CLI.hpp>

namespace purlin::tools {

void add_explain_command(CLI::App& app);

}  // namespace purlin::tools
