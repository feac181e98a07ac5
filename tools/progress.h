// One line on stderr that says how far a long run has come.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

namespace purlin::tools {

// Shown when stderr is a terminal (one line that is rewritten) or when asked for (a line every two
// seconds at most). Used by one thread.
class Progress {
 public:
  explicit Progress(bool asked_for);
  ~Progress() { clear(); }

  void show(uint64_t done, uint64_t total, const std::string& what);
  // Takes the line away, before something else is printed.
  void clear();

 private:
  bool terminal_, asked_for_;
  bool visible_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace purlin::tools
