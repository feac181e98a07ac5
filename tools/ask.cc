#include "tools/ask.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "tools/exit_codes.h"

namespace purlin::tools {

Outcome<nlohmann::json> ask(const std::function<purlin_status(char** json)>& question) {
  char* text = nullptr;
  if (question(&text) != PURLIN_OK) return Error{purlin_last_error()};
  nlohmann::json answer = nlohmann::json::parse(text, nullptr, false);
  purlin_free_text(text);
  if (answer.is_discarded())
    return Error{"the library's answer is no JSON; command and library are of different versions?"};
  return answer;
}

void give_up(const char* command, const std::string& text, int exit_code) {
  fmt::print(stderr, "purlin {}: {}\n", command, text);
  throw CLI::RuntimeError(exit_code);
}

void give_up_answer(const char* command, const std::string& error, bool as_json) {
  using nlohmann::json;
  // The text may quote bytes of a file that are no UTF-8.
  if (as_json)
    fmt::print("{}\n",
               json({{"error", error}}).dump(2, ' ', false, json::error_handler_t::replace));
  give_up(command, error, kExitFailed);
}

}  // namespace purlin::tools
