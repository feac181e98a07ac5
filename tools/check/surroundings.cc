#include "tools/check/surroundings.h"

#include <sys/stat.h>
#include <unistd.h>

#include <clocale>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "tools/check/float_environment.h"

namespace purlin::tools::check {

Surroundings observe_surroundings() {
  Surroundings now;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    now.environment.emplace_back(*variable);
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    const bool known = ::sigaction(number, nullptr, &action) == 0;
    now.signal_handlers.push_back(known ? reinterpret_cast<void*>(action.sa_handler) : nullptr);
  }
  std::error_code failed;
  now.folder = std::filesystem::current_path(failed).string();
  const char* locale = std::setlocale(LC_ALL, nullptr);
  now.locale = locale != nullptr ? locale : "";
  now.floats = describe_environment();
  now.mask = ::umask(0);
  ::umask(static_cast<mode_t>(now.mask));
  now.threads = static_cast<size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/task", failed),
                    std::filesystem::directory_iterator()));
  return now;
}

std::vector<std::string> differences(const Surroundings& before, const Surroundings& after) {
  std::vector<std::string> found;
  if (before.environment != after.environment) found.emplace_back("the environment's variables");
  for (size_t i = 0; i < before.signal_handlers.size(); ++i) {
    if (before.signal_handlers[i] == after.signal_handlers[i]) continue;
    const char* name = ::sigabbrev_np(static_cast<int>(i + 1));
    found.push_back("the handler of SIG" + std::string(name != nullptr ? name : "?"));
  }
  if (before.folder != after.folder) found.emplace_back("the working folder");
  if (before.locale != after.locale) found.emplace_back("the locale");
  if (before.floats != after.floats)
    found.push_back("the floating-point environment (" + after.floats + ")");
  if (before.mask != after.mask) found.emplace_back("the umask");
  if (before.threads != after.threads) found.emplace_back("the number of threads");
  return found;
}

}  // namespace purlin::tools::check
