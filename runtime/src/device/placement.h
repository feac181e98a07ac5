// Which ranks share a GPU, and whether they may.
#pragma once

#include <cstdint>
#include <span>

#include "device/driver_types.h"
#include "status/status.h"

namespace purlin {

// What each rank tells the others about where it runs. Trivially copyable, exchanged as bytes.
struct RankPlace {
  cu::Uuid device;   // all zero: a host rank
  uint64_t process;  // process_token() of its process
  uint32_t mps;      // 1: the device's contexts are shared through MPS
  uint32_t reserved;
};
static_assert(sizeof(RankPlace) == 32);

// A random number of this process; another one in every process, also after fork.
uint64_t process_token();

// Number of ranks (rank itself included) whose kernels run on the device of `rank` at the same time
// as its own: what has to be resident together. Ranks that take turns have all of it, each in its turn.
// PURLIN_UNSUPPORTED: a rank of another process has the same GPU, neither runs under MPS, and
// `allow_turns` is false: kernels of different processes would take turns of milliseconds. Names
// both ranks and the GPU's UUID.
Result<unsigned> ranks_on_my_device(std::span<const RankPlace> places, int rank, bool allow_turns);

}  // namespace purlin
