// Work that is spread over a few threads for as long as it lasts.
#pragma once

#include <cstddef>
#include <functional>

namespace purlin {

// Processors that this process may use, at least 1.
unsigned usable_processors();

// Calls work(0) … work(count - 1), each once, on at most `jobs` threads (0: one for each
// processor), the caller's among them; returns when all are done. Signals are not delivered to the
// threads made here. When the system gives fewer threads, fewer do the work. `work` must not throw.
void run_parallel(size_t count, unsigned jobs, const std::function<void(size_t)>& work);

}  // namespace purlin
