// Names of element types, operations, collectives and paths, both ways, and what a collective is.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "purlin/purlin.h"
#include "tools/outcome.h"

namespace purlin::tools {

std::string_view dtype_name(int dtype);
uint64_t dtype_bytes(int dtype);
std::string_view op_name(int op);
std::string_view collective_name(int collective);

// One name. Case, '-' and '_' do not matter; "allreduce" is all_reduce; common aliases of types
// ("float", "half") are known. Errors offer the nearest known name.
Outcome<purlin_dtype> parse_dtype(std::string_view text);
Outcome<purlin_op> parse_op(std::string_view text);
Outcome<purlin_collective> parse_collective(std::string_view text);
Outcome<purlin_path> parse_path(std::string_view text);
Outcome<purlin_reduction> parse_reduction(std::string_view text);

// "all", or names joined by commas, in the order given.
Outcome<std::vector<purlin_dtype>> parse_dtypes(std::string_view text);
Outcome<std::vector<purlin_op>> parse_ops(std::string_view text);

bool reduces(int collective);       // takes an operation
bool rooted(int collective);        // takes a root
bool takes_counts(int collective);  // one count a part: the V forms

}  // namespace purlin::tools
