// Judging one file: from its inode to a checked descriptor. The order of the checks is the order of
// rules(): trust before content, content before loading, loading before reading the descriptor.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "plugin/selection.h"
#include "plugin/verdict.h"
#include "purlin/atom_abi.h"

namespace purlin::plugin {

// A plugin that passed every check which does not depend on a device. Lives until the process ends.
struct Plugin {
  std::filesystem::path path;                          // absolute, links resolved
  const purlin_atom_descriptor* descriptor = nullptr;  // valid for ever
  bool data_only = false;                              // a folder with atom.yaml, no host code
  std::shared_ptr<const void> storage;  // what the descriptor of a data-only Atom points into
};

struct Judged {
  std::filesystem::path path;      // as found, absolute
  std::filesystem::path resolved;  // links resolved; empty when that failed
  Verdict verdict;
  std::shared_ptr<const Plugin> plugin;  // null unless verdict.accepted
};

// Judges the file at `path`, loading it if every check before that passes. A file that was loaded
// before is not loaded again. Never fails and never throws; a refusal is the verdict. Thread-safe.
Judged judge_file(const std::filesystem::path& path, const Selection& selection);

}  // namespace purlin::plugin
