#include "rendezvous/control_block.h"

#include <fmt/format.h>

#include <new>

namespace purlin {

struct ControlBlock::Layout {
  uint64_t magic;
  uint32_t version;
  int32_t nranks;
  std::atomic<uint32_t> states[PURLIN_MAX_RANKS];
};

namespace {
constexpr uint64_t kMagic = 0x4c525443'4e4c5250;  // "PRLNCTRL"
constexpr uint32_t kVersion = 1;
static_assert(std::atomic<uint32_t>::is_always_lock_free);
}  // namespace

Result<ControlBlock> ControlBlock::create(int nranks) {
  static_assert(sizeof(Layout) <= kBytes);
  auto memory = SharedMemory::create("purlin-control", kBytes);
  if (!memory) return memory.status();
  auto* layout = new (memory->data()) Layout{};
  layout->magic = kMagic;
  layout->version = kVersion;
  layout->nranks = nranks;
  return ControlBlock(std::move(memory).value());
}

Result<ControlBlock> ControlBlock::adopt(OwnedFd fd, int nranks) {
  auto memory = SharedMemory::adopt(std::move(fd), kBytes);
  if (!memory) return memory.status();
  const auto* layout = reinterpret_cast<const Layout*>(memory->data());
  if (layout->magic != kMagic || layout->version != kVersion || layout->nranks != nranks)
    return Status(PURLIN_MISMATCH,
                  fmt::format("control block: version {} for {} ranks where version {} for {} is "
                              "needed: use one version of Purlin on all ranks",
                              layout->version, layout->nranks, kVersion, nranks));
  return ControlBlock(std::move(memory).value());
}

std::atomic<uint32_t>& ControlBlock::word(int rank) const {
  auto* layout = reinterpret_cast<Layout*>(const_cast<std::byte*>(memory_.data()));
  return layout->states[rank];
}

void ControlBlock::move_from_member(int rank, PeerState to) const {
  auto expected = static_cast<uint32_t>(PeerState::kMember);
  word(rank).compare_exchange_strong(expected, static_cast<uint32_t>(to),
                                     std::memory_order_acq_rel);
}

}  // namespace purlin
