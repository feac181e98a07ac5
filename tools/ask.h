// Asking the library and printing its answer.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "purlin/purlin.h"
#include "tools/outcome.h"

namespace purlin::tools {

// The parsed answer of purlin_plugins, purlin_explain or purlin_prelink, or the library's error.
// Frees the text.
Outcome<nlohmann::json> ask(const std::function<purlin_status(char** json)>& question);

// Prints "purlin COMMAND: TEXT" on stderr and ends the command with `exit_code` (throws
// CLI::RuntimeError).
[[noreturn]] void give_up(const char* command, const std::string& text, int exit_code);

// The same for an error of the library's, with status 1; `as_json` prints {"error": TEXT} on stdout
// as well, for whoever reads the answer there.
[[noreturn]] void give_up_answer(const char* command, const std::string& error, bool as_json);

}  // namespace purlin::tools
