// What this process has loaded. A plugin is loaded once, checked once, and stays.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <memory>

#include "plugin/judge.h"
#include "plugin/verdict.h"

namespace purlin::plugin {

// Loads the file at `path` (resolved, and judged sound up to here) and checks its descriptor,
// unless that was done before for the same inode; then the earlier result is given again. `status`
// is the file's: a file that was overwritten since it was loaded is refused ("changed-since-load"),
// for what runs is then no longer what was judged. On acceptance *out is set. Thread-safe.
Verdict load_once(const std::filesystem::path& path, const struct stat& status,
                  std::shared_ptr<const Plugin>* out);

}  // namespace purlin::plugin
