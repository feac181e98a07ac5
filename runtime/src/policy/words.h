// The words of a policy for the enumerators of purlin.h and of policy.h, both ways.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"

namespace purlin::policy {

// "all_reduce", "bf16", "sum", "latency", "nvls-required", "host", "push", "64", "copy".
// Never NULL for a value that a policy or a call can hold.
const char* word(purlin_collective value);
const char* word(purlin_dtype value);
const char* word(purlin_op value);
const char* word(purlin_path value);
const char* word(purlin_reduction value);
const char* word(purlin_device_kind value);
const char* word(Direction value);
const char* word(PacketForm value);
const char* word(ProgramKind value);

// The enumerator that a policy may write as `text`, or nothing.
template <class E>
std::optional<E> from_word(std::string_view text);

// The words that a policy may write for E, in the order of docs/policy.md.
template <class E>
std::vector<std::string> words_of();

}  // namespace purlin::policy
