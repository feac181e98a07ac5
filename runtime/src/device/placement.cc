#include "device/placement.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstring>
#include <mutex>

namespace purlin {
namespace {

bool same_device(const RankPlace& a, const RankPlace& b) {
  return std::memcmp(&a.device, &b.device, sizeof(a.device)) == 0;
}

std::string uuid_text(const cu::Uuid& uuid) {
  std::string text = "GPU-";
  for (unsigned char byte : uuid.bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace

uint64_t process_token() {
  static std::mutex mutex;
  static uint64_t token = 0;
  static pid_t owner = 0;
  const std::lock_guard lock(mutex);
  if (owner != getpid()) {
    owner = getpid();
    // At boot the pool may be unready, and 8 bytes are never cut short: only an interruption
    // repeats.
    while (getrandom(&token, sizeof(token), 0) != sizeof(token)) {
    }
  }
  return token;
}

Result<unsigned> ranks_on_my_device(std::span<const RankPlace> places, int rank, bool allow_turns) {
  const RankPlace& mine = places[static_cast<size_t>(rank)];
  unsigned count = 0;
  for (size_t peer = 0; peer < places.size(); ++peer) {
    const RankPlace& other = places[peer];
    if (!same_device(mine, other)) continue;
    const bool together = other.process == mine.process || (mine.mps != 0 && other.mps != 0);
    if (together) ++count;
    if (together || allow_turns) continue;
    return Status(
        PURLIN_UNSUPPORTED,
        fmt::format(
            "ranks {} and {} are different processes on the same GPU ({}): without MPS their "
            "kernels take turns of milliseconds, and a message costs many turns. Give each "
            "rank a GPU of its own, run the ranks as threads of one process, start MPS, or "
            "set PURLIN_ALLOW_TURNS=1 to try things out all the same",
            rank, peer, uuid_text(mine.device)));
  }
  return count;
}

}  // namespace purlin
