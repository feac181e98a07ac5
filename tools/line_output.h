// Output of many ranks on one stream, whole lines at a time.
#pragma once

#include <string>
#include <string_view>

namespace purlin::tools {

// Cuts one rank's stream into lines and puts a label before each.
class LineOutput {
 public:
  explicit LineOutput(std::string label) : label_(std::move(label)) {}

  // The lines that `bytes` completes, labelled, ready to be written. Text without a line end is
  // kept until its end comes, or until it is longer than 64 KiB: then it is passed on as a line.
  std::string feed(std::string_view bytes);
  // What is left at the end of the stream, as a line.
  std::string finish();

 private:
  static constexpr size_t kLongest = 64 * 1024;

  std::string label_;
  std::string pending_;
};

}  // namespace purlin::tools
