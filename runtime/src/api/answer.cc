#include "api/answer.h"

#include <cstdlib>
#include <cstring>

namespace purlin {

Status null_argument(const char* name) {
  return Status(PURLIN_INVALID_ARGUMENT, std::string(name) + " is null");
}

Status give_text(const std::string& text, char** out) {
  *out = static_cast<char*>(std::malloc(text.size() + 1));
  if (*out == nullptr) return Status(PURLIN_OUT_OF_MEMORY, "no memory for the answer");
  std::memcpy(*out, text.c_str(), text.size() + 1);
  return {};
}

}  // namespace purlin
