#include "tools/line_output.h"

namespace purlin::tools {

std::string LineOutput::feed(std::string_view bytes) {
  std::string out;
  for (size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    out += label_ + pending_;
    out += bytes.substr(0, end + 1);
    pending_.clear();
    bytes.remove_prefix(end + 1);
  }
  pending_ += bytes;
  if (pending_.size() > kLongest) out += finish();
  return out;
}

std::string LineOutput::finish() {
  if (pending_.empty()) return "";
  std::string line = label_ + pending_ + "\n";
  pending_.clear();
  return line;
}

}  // namespace purlin::tools
