// A made-up cubin: an ELF file with the sections that are read and no code that could run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "purlin/atom_abi.h"

namespace purlin {

struct SampleCubin {
  std::string kernel = "sample_kernel";
  uint32_t registers = 40;
  uint32_t frame_bytes = 0;
  uint32_t shared_bytes = 1024;
  bool reserves = false;  // a section for the system's share of shared memory, as from sm_90 on
  uint32_t snac_abi = PURLIN_ATOM_DEVICE_ABI;
  uint32_t atom_abi = PURLIN_ATOM_DEVICE_ABI;
};

std::vector<std::byte> sample_cubin(const SampleCubin& what = {});

}  // namespace purlin
