// `purlin pack`: a data-only Atom from image files.
#pragma once

#include <CLI/CLI.hpp>

namespace purlin::tools {

void add_pack_command(CLI::App& app);

}  // namespace purlin::tools
