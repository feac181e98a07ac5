// The table and the JSON document of `purlin perf`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/bench.h"
#include "tools/perf_options.h"

namespace purlin::tools {

// Lines of the table, without a newline at the end of the last; at most 100 columns.
std::string table_heading(const PerfOptions& options);
std::string table_row(const PerfOptions& options, const Case& test, const Row& row);
std::string table_footing(const PerfOptions& options, uint64_t rows, uint64_t wrong);

// Bytes a microsecond / 1000 = GB/s of 10^9 bytes. Zero when there is no size or no time.
double algorithm_bandwidth(const Case& test, const Row& row);

// NCCL's median over Purlin's; above one where Purlin is faster.
double ratio_to_peer(const Row& row);

nlohmann::ordered_json json_heading(const PerfOptions& options);
nlohmann::ordered_json json_row(const PerfOptions& options, const Case& test, const Row& row);

}  // namespace purlin::tools
