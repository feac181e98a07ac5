// What happened while a program was being found or made, line by line, for error texts and explain.
#pragma once

#include <string>
#include <vector>

namespace purlin {

// Lines in the order in which things happened, each complete without the others. Not thread-safe:
// one trace belongs to one request.
class ProgramTrace {
 public:
  void add(std::string line) { lines_.push_back(std::move(line)); }
  const std::vector<std::string>& lines() const { return lines_; }
  bool empty() const { return lines_.empty(); }
  // All lines, each on its own line behind `indent`.
  std::string text(const std::string& indent = "  ") const {
    std::string out;
    for (const auto& line : lines_) out += "\n" + indent + line;
    return out;
  }

 private:
  std::vector<std::string> lines_;
};

}  // namespace purlin
