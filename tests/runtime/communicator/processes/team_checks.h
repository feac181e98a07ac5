// What tests of a team of processes check again and again.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include "runtime/rendezvous/rank_process.h"

namespace purlin_test {

constexpr int kLong = 60'000;  // a limit that no test waits for

inline void check_all(const std::vector<std::string>& answers, const std::string& expected) {
  for (size_t r = 0; r < answers.size(); ++r)
    if (!answers[r].empty())
      CHECK_MESSAGE(answers[r] == expected, "rank " << r << ": " << answers[r]);
}

inline void check_says(const std::string& answer, const std::vector<std::string>& parts) {
  for (const auto& part : parts)
    CHECK_MESSAGE(contains(answer, part), "'" << part << "' is not in: " << answer);
}

// Every rank that runs must have said each of `parts`.
inline void check_all_say(const std::vector<std::string>& answers,
                          const std::vector<std::string>& parts) {
  for (const auto& answer : answers)
    if (!answer.empty()) check_says(answer, parts);
}

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace purlin_test
