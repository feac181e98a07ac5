// Where programs and the tools that make them are looked for.
#pragma once

#include <string>
#include <vector>

#include "program/libraries.h"

namespace purlin {

// All of it may be injected; from_environment() is what the library uses.
struct ProgramSources {
  std::vector<std::string> prelinked;  // read-only folders made by `purlin prelink`, in order
  std::string cache;                   // the writable folder, absolute; empty: none
  LibrarySearch libraries;
  unsigned jobs = 0;                 // links at once; 0: one for each processor
  unsigned lock_timeout_ms = 60000;  // longest wait for another process that makes the same program

  // PURLIN_PROGRAM_PATH (absolute folders separated by ':'); PURLIN_CACHE_DIR, else
  // XDG_CACHE_HOME/purlin, else HOME/.cache/purlin. Relative paths are ignored, and so is the whole
  // environment in a privileged process (AT_SECURE).
  static ProgramSources from_environment();
};

}  // namespace purlin
