// Ranks of one communicator as threads of this process, all on the machine's first GPU.
#pragma once

#include <functional>
#include <string>

#include "tools/check/gpu/atom_on_gpu.h"
#include "tools/rank_device.h"
#include "tools/rank_link.h"

namespace purlin::tools::check {

struct GpuRank {
  purlin_comm_t comm = nullptr;
  RankDevice& device;
  RankLink& link;  // its rank, and barriers between the ranks

  void meet() { static_cast<void>(link.agree(done())); }
};

// Makes a communicator on the Atom, calls `body` on each rank's thread, and destroys it. The first
// fault in words: of making it, or what a body returned. Nothing may be allocated on the device
// while a peer's kernel may wait.
std::string run_ranks(const AtomOnGpu& atom, int nranks, unsigned timeout_ms,
                      const std::function<std::string(GpuRank&)>& body);

}  // namespace purlin::tools::check
