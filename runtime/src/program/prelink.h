// Makes the programs of a list ahead of time, on a machine that need not have the device.
#pragma once

#include <span>
#include <string>

#include "program/store.h"

namespace purlin {

struct PrelinkOptions {
  std::string output_directory;  // absolute; made if absent, with missing parents, mode 0755
  std::string device;            // for the manifest, as the next two: "sm_90"
  std::string policy, atom;      // names
  LibrarySearch libraries;
  unsigned jobs = 0;
  ProgramStore::Progress progress;
};

// Writes <digest>-<linker>.program for each request and manifest.json, which is also returned as
// text: {"device", "policy", "atom", "device_abi", "programs": [{"name", "file", "digest", "linker",
// "cubin_bytes", "kernels": [{"name", "registers", "shared_bytes", "local_bytes", "code_bytes"}]}]}. All programs
// or an error: the manifest is written last, so a folder without one is not complete. Requests that
// are the same program share a file.
Result<std::string> prelink(std::span<const ProgramRequest> requests,
                            const PrelinkOptions& options);

}  // namespace purlin
