// `purlin run` in a process of its own, its output caught.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace purlin_test {

struct Captured {
  int status = -1;  // exit status; 1000 + signal when one ended it
  std::string out, err;
};

// Runs `purlin run ARGUMENTS`; ended with SIGKILL after 60 s.
class CapturedRun {
 public:
  explicit CapturedRun(const std::vector<std::string>& arguments, const std::string& input = "");
  ~CapturedRun();
  CapturedRun(const CapturedRun&) = delete;
  CapturedRun& operator=(const CapturedRun&) = delete;

  void signal(int number) const;
  // Reads until the output holds `text`.
  void wait_for_output(const std::string& text);
  Captured finish();
  pid_t pid() const { return pid_; }

 private:
  bool read_some();  // false at the end of both streams

  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
  Captured captured_;
};

inline Captured purlin_run(const std::vector<std::string>& arguments,
                           const std::string& input = "") {
  return CapturedRun(arguments, input).finish();
}

bool contains(const std::string& text, const std::string& part);
std::vector<std::string> sorted_lines(const std::string& text);
// Processes whose command line holds `mark`, this one and ended ones left out.
int processes_with(const std::string& mark);

}  // namespace purlin_test
