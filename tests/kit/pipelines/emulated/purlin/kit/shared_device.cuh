// Twin of the kit's header for the emulated CTA: shared words, barriers, votes and a device
// intrinsic.
#pragma once

#include <cstring>

#include "kit/pipelines/cta.h"
#include "purlin/kit/seam.h"

#define __syncwarp() static_cast<void>(::purlin::emulator::warp_vote(true, true, "syncwarp"))
#define __all_sync(mask, mine) ::purlin::emulator::warp_vote(mine, true, "all")
#define __any_sync(mask, mine) ::purlin::emulator::warp_vote(mine, false, "any")

inline uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t shift) {
  const uint64_t both = low | static_cast<uint64_t>(high) << 32;
  return static_cast<uint32_t>(both >> (shift & 31));
}

namespace purlin::kit {

static inline uint32_t shared_address(const void* at) {
  const auto offset = static_cast<const char*>(at) - static_cast<char*>(emulator::shared_memory());
  return static_cast<uint32_t>(4096 + offset);
}
static inline uint64_t acquire_shared(const uint64_t* word) {
  emulator::pause();
  return *word;
}
static inline void release_shared(uint64_t* word, uint64_t value) { *word = value; }
static inline void group_barrier(const purlin_group& group, uint32_t index) {
  emulator::barrier(group.barrier_base + index, group.threads);
}

}  // namespace purlin::kit
