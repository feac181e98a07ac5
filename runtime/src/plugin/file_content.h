// A plugin's file, read in full: what is judged is a copy that nobody can shorten meanwhile.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <vector>

#include "plugin/verdict.h"

namespace purlin::plugin {

struct FileContent {
  struct stat status {};  // of the file that was read, taken from its descriptor
  std::vector<std::byte> bytes;
};

// The largest plugin that is read.
inline constexpr std::size_t kLargestPlugin = std::size_t{1} << 30;

// Reads a regular file. Refuses what is not one ("not-a-file"), cannot be opened or read
// ("file-unreadable") or is larger than kLargestPlugin ("too-large"). Never blocks on a pipe.
Verdict read_content(const std::filesystem::path& path, FileContent* out);

}  // namespace purlin::plugin
