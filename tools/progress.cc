#include "tools/progress.h"

#include <fmt/format.h>
#include <unistd.h>

namespace purlin::tools {

Progress::Progress(bool asked_for)
    : terminal_(isatty(STDERR_FILENO) != 0),
      asked_for_(asked_for),
      last_(std::chrono::steady_clock::now()) {}

void Progress::show(uint64_t done, uint64_t total, const std::string& what) {
  const auto now = std::chrono::steady_clock::now();
  if (terminal_) {
    fmt::print(stderr, "\r\033[K[{}/{}] {}", done, total, what);
    std::fflush(stderr);
    visible_ = true;
  } else if (asked_for_ && now - last_ >= std::chrono::seconds(2)) {
    fmt::print(stderr, "[{}/{}] {}\n", done, total, what);
    last_ = now;
  }
}

void Progress::clear() {
  if (!visible_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  visible_ = false;
}

}  // namespace purlin::tools
