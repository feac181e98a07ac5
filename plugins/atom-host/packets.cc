#include "packets.h"

#include <atomic>
#include <cstring>

namespace purlin::atom_host {
namespace {

// Lock-free in hardware, hence the same between processes that map one memory.
static_assert(std::atomic_ref<uint64_t>::is_always_lock_free);

constexpr uint64_t kPayloadBytes = sizeof(purlin_packet::payload);

void put(purlin_packet& slot, uint64_t payload, uint64_t tag) {
  std::atomic_ref(slot.payload).store(payload, std::memory_order_relaxed);
  std::atomic_ref(slot.tag).store(tag, std::memory_order_release);
}

// atomic_ref wants an object that is not const, though a load writes nothing.
uint64_t load(const uint64_t& word, std::memory_order order) {
  return std::atomic_ref(const_cast<uint64_t&>(word)).load(order);
}

}  // namespace

void send_packets(purlin_packet* slots, const void* source, uint64_t bytes, uint64_t tag) {
  const auto* in = static_cast<const unsigned char*>(source);
  const uint64_t whole = bytes / kPayloadBytes;
  for (uint64_t i = 0; i < whole; ++i) {
    uint64_t payload;
    std::memcpy(&payload, in + i * kPayloadBytes, kPayloadBytes);
    put(slots[i], payload, tag);
  }
  if (const uint64_t tail = bytes % kPayloadBytes; tail != 0) {
    uint64_t payload = 0;
    std::memcpy(&payload, in + whole * kPayloadBytes, tail);
    put(slots[whole], payload, tag);
  }
}

uint64_t receive_packets(const purlin_packet* slots, void* destination, uint64_t bytes,
                         uint64_t tag, uint64_t first) {
  auto* out = static_cast<unsigned char*>(destination);
  const uint64_t whole = bytes / kPayloadBytes;
  const uint64_t tail = bytes % kPayloadBytes;
  for (uint64_t i = first; i < whole; ++i) {
    if (load(slots[i].tag, std::memory_order_acquire) != tag) return i;
    const uint64_t payload = load(slots[i].payload, std::memory_order_relaxed);
    std::memcpy(out + i * kPayloadBytes, &payload, kPayloadBytes);
  }
  if (tail == 0 || first > whole) return whole + (tail != 0);
  if (load(slots[whole].tag, std::memory_order_acquire) != tag) return whole;
  const uint64_t payload = load(slots[whole].payload, std::memory_order_relaxed);
  std::memcpy(out + whole * kPayloadBytes, &payload, tail);
  return whole + 1;
}

void signal(uint64_t* flag, uint64_t value) {
  std::atomic_ref(*flag).store(value, std::memory_order_release);
}

uint64_t observe(const uint64_t* flag) { return load(*flag, std::memory_order_acquire); }

}  // namespace purlin::atom_host
