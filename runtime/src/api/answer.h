// What the functions of the C API say alike.
#pragma once

#include <string>

#include "status/status.h"

namespace purlin {

// PURLIN_INVALID_ARGUMENT: the pointer argument of this name is null.
Status null_argument(const char* name);

// Hands `text` to the caller as *out, which purlin_free_text frees.
Status give_text(const std::string& text, char** out);

}  // namespace purlin
