// Result codes with their texts, and what PURLIN_DEBUG prints. All functions are thread-safe.
#pragma once

#include <string>

#include "nccl/abi.h"
#include "purlin/purlin.h"

namespace purlin::nccl {

// Remembers `text` as this thread's, and the process's, last error; returns `code`.
Result fail(Result code, const std::string& text);

// The code for `status`. Unless it is PURLIN_OK, remembers purlin_last_error().
Result from_purlin(purlin_status status);

// The code alone, without looking at the last error.
Result code_of(purlin_status status);

// This thread's last error, or, when it met none, the last of any thread: pollers ask for what
// others met. Valid until the thread asks again. Never null.
const char* last_error();

// This thread's last error; empty when it met none.
const std::string& own_error();
// Makes `text`, which another thread has met and told, this thread's last error.
void repeat(const std::string& text);

// PURLIN_DEBUG=info. read_debug() looks at the environment again.
bool debug();
void read_debug();
// One line on standard error, when debug().
void say(const std::string& line);

}  // namespace purlin::nccl
