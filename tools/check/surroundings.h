// What a plugin must leave as it was when it is loaded.
#pragma once

#include <string>
#include <vector>

namespace purlin::tools::check {

struct Surroundings {
  std::vector<std::string> environment;
  std::vector<void*> signal_handlers;  // by signal number
  std::string folder, locale, floats;
  unsigned mask = 0;  // umask
  size_t threads = 0;
};
Surroundings observe_surroundings();

// What differs, in words: "the handler of SIGSEGV".
std::vector<std::string> differences(const Surroundings& before, const Surroundings& after);

}  // namespace purlin::tools::check
