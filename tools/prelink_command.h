// `purlin prelink`.
#pragma once

#include <CLI/CLI.hpp>

namespace purlin::tools {

void add_prelink_command(CLI::App& app);

}  // namespace purlin::tools
