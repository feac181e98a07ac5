// Everything that determines a program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/constants.h"
#include "program/digest.h"
#include "program/image.h"
#include "program/target.h"
#include "status/status.h"

namespace purlin {

// A value: copy freely. `name`, `abi_globals` and `finished` do not take part in the
// program's key.
struct ProgramRequest {
  std::string name;                  // for messages and manifests: "throughput-reduce-bf16-sum-n8"
  uint32_t cc = 0;                   // the device: 75 … 120
  std::vector<DeviceImage> images;   // all that are linked; order is part of the key
  std::vector<Constant> constants;   // empty: no constants module is made
  uint32_t threads = 0;              // threads of a CTA; bounds the registers
  std::vector<std::string> kernels;  // entry points the program must have
  // Globals that hold the device-ABI version of the parts; each must be there with our version.
  std::vector<std::string> abi_globals = {"purlin_device_abi_snac", "purlin_device_abi_atom"};
  std::vector<DeviceImage> finished;  // program files that a plugin ships (PURLIN_IMAGE_PROGRAM)
};

// Registers a thread may use so that a CTA of `threads` is launchable: 65,536 / threads rounded
// down to a multiple of 8, at most 255.
uint32_t register_limit(uint32_t threads);

// `threads`, or fewer where that many threads of a CTA leave too few registers for the words of so many
// sources.
uint32_t threads_for_sources(uint32_t threads, uint32_t sources);

// Options of every link, in order. They settle the arithmetic whatever the images were compiled
// with: no contraction, no flush to zero, IEEE division and root.
std::vector<std::string> link_options(const ProgramRequest& request);

// Refuses what cannot become a program, before anything is hashed or linked: no image, an image
// that is damaged or for another architecture, threads that are no multiple of 32 in 32 … 1024.
Status check_request(const ProgramRequest& request);

// SHA-256 over the device-ABI version, target, options, constants, kernels and the bytes of all
// images. The linker's version is the second half of a program's key (cache.h).
Digest program_digest(const ProgramRequest& request);

}  // namespace purlin
