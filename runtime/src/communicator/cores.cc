#include "communicator/cores.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <span>

namespace purlin {
namespace {

// Machines with more cores than a cpu_set_t holds need a longer one: the system refuses a short
// one.
using CoreMask = std::array<unsigned long, 16384 / (8 * sizeof(unsigned long))>;

}  // namespace

Result<int> cores_of_ranks(Rendezvous& rendezvous) {
  CoreMask mine{};
  Status asked;
  if (::sched_getaffinity(0, sizeof mine, reinterpret_cast<cpu_set_t*>(mine.data())) != 0)
    asked = Status(PURLIN_SYSTEM_ERROR,
                   fmt::format("sched_getaffinity failed: {}", std::strerror(errno)));
  PURLIN_RETURN_IF_ERROR(rendezvous.agree(asked));
  auto all = rendezvous.all_gather_blob(std::as_bytes(std::span(mine)));
  if (!all) return all.status();
  CoreMask together{};
  for (const Blob& blob : *all) {
    CoreMask theirs{};
    std::memcpy(theirs.data(), blob.data(), std::min(blob.size(), sizeof theirs));
    for (size_t i = 0; i < together.size(); ++i) together[i] |= theirs[i];
  }
  int cores = 0;
  for (const unsigned long word : together) cores += std::popcount(word);
  return cores;
}

}  // namespace purlin
