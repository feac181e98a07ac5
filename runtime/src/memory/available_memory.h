// How much memory this process may still take, and who limits it.
#pragma once

#include <cstdint>
#include <string>

namespace purlin {

struct AvailableMemory {
  uint64_t bytes = UINT64_MAX;  // UINT64_MAX: nothing known limits it
  std::string limited_by;       // "the machine (MemAvailable)" or the path of a memory group
};

// The least of the machine's available memory and what each memory control group of this process
// (version 2 or 1, with its parents) leaves, reclaimable file pages counted as free. `root` stands
// for "/" in tests. Unreadable files limit nothing. Thread-safe.
AvailableMemory available_memory(const std::string& root = "");

}  // namespace purlin
