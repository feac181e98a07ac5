// Makes the programs of a list ahead of time, on a machine that need not have the device.
#pragma once

#include <span>
#include <string>

#include "program/store.h"

namespace purlin {

struct PrelinkOptions {
  std::string output_directory;  // created if absent, 0755; its parent must exist
  std::string device;            // for the manifest: "sm_90"
  LibrarySearch libraries;
  unsigned jobs = 0;
  ProgramStore::Progress progress;
};

// Writes <digest>-<linker>.program for each request and manifest.json, which is also returned as
// text: {"device", "device_abi", "linker", "programs": [{"name", "file", "digest", "cubin_bytes",
// "kernels": [{"name", "registers", "shared_bytes", "local_bytes"}]}]}. All programs or an error:
// the manifest is written last, so a folder without one is not complete.
Result<std::string> prelink(std::span<const ProgramRequest> requests,
                            const PrelinkOptions& options);

}  // namespace purlin
